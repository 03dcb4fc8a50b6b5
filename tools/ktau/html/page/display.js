// SPDX-License-Identifier: GPL-2.0-only
/* Formatting, colours and canvases. */

function time(ns) {
	const size = Math.abs(ns);

	if (size >= 1e9)
		return (ns / 1e9).toFixed(size >= 1e11 ? 0 : 2) + " s";
	if (size >= 1e6)
		return (ns / 1e6).toFixed(size >= 1e8 ? 0 : 2) + " ms";
	if (size >= 1e3)
		return (ns / 1e3).toFixed(size >= 1e5 ? 0 : 2) + " us";
	return ns.toFixed(0) + " ns";
}

const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + "%" : "-";
const add = (tag, parent, text, cls) => {
	const element = document.createElement(tag);

	if (text !== undefined)
		element.textContent = text;
	if (cls)
		element.className = cls;
	if (parent)
		parent.appendChild(element);
	return element;
};

const colours = {};

function readColours() {
	const style = getComputedStyle(document.documentElement);

	for (const name of ["back", "front", "dim", "line", "soft", "select", "accent", "gap", "rest", ...PARTS])
		colours[name] = style.getPropertyValue("--" + name).trim();
}

/* A number that depends on the text alone. */
function hashOf(text) {
	let hash = 7;

	for (let i = 0; i < text.length; i++)
		hash = (hash * 31 + text.charCodeAt(i)) | 0;
	return hash;
}

/* The hue of a routine is that of its group; a given name always has the same shade. */
const HUES = {
	syscall: 205, irq: 338, bh: 310, exception: 268, signal: 285, socket: 165, tcp: 145, icmp: 125,
	wait: 190, func: 35, user: 80, kvm: 255, account: 220,
};

function hueOf(group) {
	return HUES[group] ?? (hashOf(group) & 0xffff) % 360;
}

function colourOf(event) {
	const e = report.events[event];

	if (e.colour)
		return e.colour;
	if (e.wait)
		return e.wait === 1 ? colours.asleep : colours.runq;
	const hash = hashOf(e.name), hue = hueOf(e.group);

	e.colour = `hsl(${hue + (hash & 15) - 8} ${55 + (hash >> 4 & 15)}% ${62 + (hash >> 8 & 15)}%)`;
	return e.colour;
}

/* Relative luminance of a colour, as in the Web Content Accessibility Guidelines. */
function luminance(colour) {
	const c = luminance.context || (luminance.context = document.createElement("canvas").getContext("2d", { willReadFrequently: true }));

	c.fillStyle = colour;
	c.fillRect(0, 0, 1, 1);
	const [r, g, b] = [...c.getImageData(0, 0, 1, 1).data].map((v) => v <= 10 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const inks = new Map();

/* Black or white, whichever is easier to read on a colour. */
function inkOn(colour) {
	let ink = inks.get(colour);

	if (!ink)
		inks.set(colour, ink = luminance(colour) > 0.179 ? "#000" : "#fff");
	return ink;
}

/* Give a canvas the resolution of the screen; the context uses the page's coordinates. */
function prepare(canvas, height) {
	const ratio = devicePixelRatio || 1, width = canvas.clientWidth;

	height = height || canvas.clientHeight;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const context = canvas.getContext("2d");

	context.scale(ratio, ratio);
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "middle";
	return { context, width, height };
}

function hatch(context) {
	if (hatch.theme === document.documentElement.dataset.theme)
		return hatch.pattern;
	const tile = document.createElement("canvas");

	tile.width = tile.height = 8;
	const c = tile.getContext("2d");

	c.strokeStyle = colours.gap;
	c.lineWidth = 2;
	for (const x of [-8, 0, 8]) {
		c.moveTo(x, 8);
		c.lineTo(x + 8, 0);
	}
	c.stroke();
	hatch.theme = document.documentElement.dataset.theme;
	hatch.pattern = context.createPattern(tile, "repeat");
	return hatch.pattern;
}

const tip = {
	show(event, text) {
		const box = $("tip");

		box.hidden = !text;
		if (!text)
			return;
		box.textContent = text;
		box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 6) + "px";
		box.style.top = Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 6) + "px";
	},
	hide() {
		$("tip").hidden = true;
	},
};
