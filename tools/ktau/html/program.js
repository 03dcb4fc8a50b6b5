// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws an HTML report of KTAU. The data is in script elements written by html.c: numbers with
 * seven bits per byte, in base64. Names come from outside, so they are only ever inserted as text
 * with textContent and fillText(), never as HTML.
 */
"use strict";

const $ = (id) => document.getElementById(id);

/* Data. Numbers that may need more than 32 bits are read as doubles. */

class Section {
	constructor(id) {
		const element = $("data-" + id);

		this.at = 0;
		this.bytes = element ? Section.decode(element.textContent) : new Uint8Array(1);
		if (element)
			element.remove();
	}

	static decode(text) {
		if (Uint8Array.fromBase64)
			return Uint8Array.fromBase64(text);
		const binary = atob(text), bytes = new Uint8Array(binary.length);

		for (let i = 0; i < bytes.length; i++)
			bytes[i] = binary.charCodeAt(i);
		return bytes;
	}

	number() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];

		if (byte < 128)
			return byte;
		let value = byte - 128, unit = 128;

		do {
			byte = bytes[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte > 127);
		return value;
	}

	signed() {
		const value = this.number();

		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	skip() {
		const bytes = this.number(), at = this.at;

		this.at += bytes;
		return at;
	}
}

const PARTS = ["user", "kernel", "irq", "runq", "asleep", "guest"];
const OVER_PARTS = [0, 1, 2, 3, 5];
const IDLE = 1;
const report = {};

function readTexts() {
	const section = new Section("texts"), decoder = new TextDecoder(), texts = [];

	for (let n = section.number(); n > 0; n--) {
		const bytes = section.number();

		texts.push(decoder.decode(section.bytes.subarray(section.at, section.at + bytes)));
		section.at += bytes;
	}
	return texts;
}

function readMeta() {
	const s = new Section("meta"), text = () => report.texts[s.number()];

	return {
		host: text(), release: text(), machine: text(), source: text(),
		cpus: s.number(), from: s.number(), length: s.number(),
		own: s.number(), pairs: s.number(), round: s.number(),
	};
}

function readEvents() {
	const s = new Section("events"), events = [];

	for (let n = s.number(); n > 0; n--)
		events.push({ name: report.texts[s.number()], group: report.texts[s.number()],
			      wait: s.number() });
	return events;
}

function readAccount(s, row) {
	row.life = s.number();
	row.measured = s.number();
	row.parts = PARTS.map(() => s.number());
	row.at = s.skip();
}

function readRows() {
	const s = report.rowData = new Section("rows"), rows = [];

	for (let n = s.number(); n > 0; n--) {
		const row = {
			index: rows.length, name: report.texts[s.number()],
			cgroup: report.texts[s.number()], pid: s.signed(), uid: s.number(),
			flags: s.number(), tasks: s.number(), live: s.number(), start: s.signed(),
			end: s.number(),
		};

		row.end = row.end ? row.start + row.end - 1 : Infinity;
		readAccount(s, row);
		rows.push(row);
	}
	return rows;
}

function readCpus() {
	const s = report.cpuData = new Section("cpus"), cpus = [];

	for (let n = s.number(); n > 0; n--) {
		const cpu = { cpu: s.number() };

		readAccount(s, cpu);
		cpus.push(cpu);
	}
	return cpus;
}

function readLosses() {
	const s = new Section("losses"), losses = [];

	for (let n = s.number(); n > 0; n--)
		losses.push({ name: report.texts[s.number()], value: s.number(),
			      meaning: report.texts[s.number()] });
	return losses;
}

/* The regions of the rows; a path begins with the outermost scope. */
function readRegions() {
	const s = new Section("regions");

	for (let n = s.number(); n > 0; n = s.number()) {
		const row = report.rows[s.number()], regions = row.regions || (row.regions = []);

		for (; n > 0; n--) {
			const path = report.texts[s.number()], key = s.number();

			regions.push({ path, event: Math.floor(key / 2), counter: key % 2, count: s.number(),
				       incl: s.number(), excl: s.number() });
		}
	}
}

/* For each interval: its end, what the rows did, and the interrupts of the CPUs. */
function readOver() {
	const s = new Section("over"), intervals = [];
	let from = 0;

	while (s.number()) {
		const interval = { from, to: s.number(), rows: new Map(), cpus: [], sum: [0, 0, 0, 0, 0, 0] };

		for (let n = s.number(); n > 0; n--) {
			const parts = [0, 0, 0, 0, 0, 0], row = s.number();

			for (const part of OVER_PARTS)
				interval.sum[part] += parts[part] = s.number();
			if (row < report.rows.length && (report.rows[row].flags & IDLE || !hasCpu(report.rows[row])))
				for (const part of OVER_PARTS)
					interval.sum[part] -= parts[part];
			interval.rows.set(row, parts);
		}
		for (let n = s.number(); n > 0; n--)
			interval.cpus.push({ cpu: s.number(), event: s.number(), ns: s.number() });
		from = interval.to;
		intervals.push(interval);
	}
	return intervals;
}

/* The routines of a row, decoded on demand. */
function routinesOf(row, s = report.rowData) {
	if (row.routines)
		return row;
	if (row.members)
		return mergeRoutines(row);
	s.at = row.at;
	row.routines = [];
	row.counters = [];
	row.wakers = [];
	for (let n = s.number(); n > 0; n--) {
		const key = s.number(), event = Math.floor(key / 2), count = s.number();

		if (key % 2)
			row.counters.push({ event, count, sum: s.number(), min: s.number(), max: s.number() });
		else
			row.routines.push({ event, count, incl: s.number(), excl: s.number(),
					    longest: s.number(), asleep: s.number(), open: s.number() });
	}
	for (let n = s.number(); n > 0; n--)
		row.wakers.push({ event: s.number(), name: report.texts[s.number()], count: s.number() });
	return row;
}

function mergeInto(list, items, key, max) {
	for (const item of items) {
		const old = list.get(key(item));

		if (!old) {
			list.set(key(item), { ...item });
			continue;
		}
		for (const field in item)
			if (max.includes(field))
				old[field] = Math.max(old[field], item[field]);
			else if (field === "min")
				old[field] = Math.min(old[field], item[field]);
			else if (field !== "event" && field !== "name" && field !== "path")
				old[field] += item[field];
	}
}

function mergeRoutines(row) {
	const routines = new Map(), counters = new Map(), wakers = new Map();

	for (const member of row.members) {
		routinesOf(member);
		mergeInto(routines, member.routines, (r) => r.event, ["longest"]);
		mergeInto(counters, member.counters, (r) => r.event, ["max"]);
		mergeInto(wakers, member.wakers, (r) => r.event + " " + r.name, []);
	}
	row.routines = [...routines.values()];
	row.counters = [...counters.values()];
	row.wakers = [...wakers.values()];
	return row;
}

/* Formatting for display */

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

/* Processes */

const state = {
	view: "processes", by: "process", scale: "share", sort: "busy", down: true, interval: -1,
	search: "", selected: null,
};

const busyOf = (parts) => parts[0] + parts[1] + parts[2] + parts[5];

/* Without user and kernel time, the time on a CPU is unknown: the other parts are not added up. */
const hasCpu = (row) => (row.measured & 3) === 3;

function groupRows(by) {
	if (by === "process")
		return report.rows;
	const groups = new Map();

	for (const row of report.rows) {
		const name = by === "name" ? row.name : row.cgroup;
		let group = groups.get(name);

		if (!group) {
			group = { name, cgroup: row.cgroup, pid: 0, tasks: 0, live: 0, life: 0, flags: 0,
				  parts: PARTS.map(() => 0), measured: ~0, members: [], start: row.start, end: 0 };
			groups.set(name, group);
		}
		group.members.push(row);
		for (const field of ["tasks", "live", "life"])
			group[field] += row[field];
		group.parts.forEach((value, i) => group.parts[i] = value + row.parts[i]);
		group.measured &= row.measured;
		group.start = Math.min(group.start, row.start);
		group.end = Math.max(group.end, row.end);
	}
	return [...groups.values()];
}

/* What a row did in the selected interval, or in the whole period. */
function partsOf(row) {
	if (state.interval < 0)
		return row.parts;
	const interval = report.over[state.interval];

	if (!row.members)
		return interval.rows.get(row.index) || [0, 0, 0, 0, 0, 0];
	const sum = [0, 0, 0, 0, 0, 0];

	for (const member of row.members)
		(interval.rows.get(member.index) || []).forEach((value, i) => sum[i] += value);
	return sum;
}

const COLUMNS = [
	["name", "name", false], ["pid", "pid", true], ["tasks", "tasks", true], ["life", "life", true],
	["bar", "where the time went", false], ["busy", "CPU", true], ["kernel", "kernel", true],
	["top", "top routine", false], ["waits", "waits most in", false],
];

const KEYS = {
	name: (row) => row.name, pid: (row) => row.pid, tasks: (row) => row.tasks, life: (row) => row.life,
	bar: (row) => row.shown[4], busy: (row) => hasCpu(row) ? busyOf(row.shown) : -1,
	kernel: (row) => row.measured & 2 ? row.shown[1] : -1, waits: (row) => waitsMostIn(row), top: (row) => topRoutine(row),
};

function listRows() {
	const word = state.search.toLowerCase();

	if (state.grouped !== state.by) {
		state.groups = groupRows(state.by);
		state.grouped = state.by;
		state.selected = null;
	}
	const rows = state.groups.filter((row) => !(row.flags & IDLE) &&
		(!word || row.name.toLowerCase().includes(word) || String(row.pid) === word ||
		 row.cgroup.toLowerCase().includes(word)));

	for (const row of rows)
		row.shown = partsOf(row);
	if (state.interval >= 0)
		state.list = rows.filter((row) => busyOf(row.shown) || row.shown[3]);
	else
		state.list = rows;
	const key = KEYS[state.sort], sign = state.down ? -1 : 1;

	state.list.sort((a, b) => {
		const x = key(a), y = key(b);

		return x < y ? -sign : x > y ? sign : 0;
	});
	state.most = state.list.reduce((most, row) => Math.max(most, hasCpu(row) ? busyOf(row.shown) : 0), 1);
	$("count").textContent = `${state.list.length} of ${state.groups.length} rows`;
}

function drawHead() {
	const head = $("head");

	head.replaceChildren();
	/* The rows have a scroll bar, the head has none. */
	head.style.paddingRight = $("rows").offsetWidth - $("rows").clientWidth + 6 + "px";
	for (const [key, title, number] of COLUMNS) {
		const arrow = state.sort !== key ? "" : state.down ? " \u25be" : " \u25b4";
		const cell = add("span", head, title + arrow, (number ? "n " : "") + (arrow && "sorted"));

		cell.onclick = () => {
			state.down = state.sort === key ? !state.down : !["name", "top", "waits"].includes(key);
			state.sort = key;
			drawProcesses();
		};
	}
}

/* The bar of a row: shares of its lifetime, or time relative to the busiest row. */
function drawParts(box, row) {
	const parts = row.shown;
	let whole = state.scale === "share" ? row.life : state.most;

	if (state.interval >= 0)
		whole = state.scale === "share" ? Math.max(state.over(state.interval), busyOf(parts) + parts[3]) : state.most;
	for (const [i, name] of PARTS.entries()) {
		if (!parts[i] || (state.scale === "time" && (i === 3 || i === 4)))
			continue;
		const bar = add("i", box, undefined, "p-" + name);

		bar.style.width = 100 * parts[i] / (whole || 1) + "%";
	}
	box.dataset.tip = PARTS.map((name, i) =>
		`${name}: ${row.measured >> i & 1 ? time(parts[i]) + "  " + percent(parts[i], whole) : "not measured"}`)
		.join("\n");
}

function topRoutine(row) {
	let top = null;

	if (row.members && row.members.length > 400)
		return "";
	for (const r of routinesOf(row).routines) {
		const e = report.events[r.event];

		if (!e.wait && !["irq", "kvm", "user"].includes(e.group) && (!top || r.excl > top.excl))
			top = r;
	}
	return top ? report.events[top.event].name : "";
}

/* As in ktau report: a wait function before the call around it, unless that slept elsewhere. */
function waitsMostIn(row) {
	const longest = (wanted) => routinesOf(row).routines.reduce((most, r) => {
		const e = report.events[r.event];

		if (!r.asleep || e.wait || !wanted(e.group))
			return most;
		return !most || r.asleep > most.asleep || (r.asleep === most.asleep && e.group === "syscall") ? r : most;
	}, null);

	if (row.members && row.members.length > 400)
		return "";
	const call = longest((group) => group !== "wait" && group !== "user");
	let wait = longest((group) => group === "wait");

	if (!wait || (call && wait.asleep < call.asleep / 2))
		wait = call;
	return wait ? report.events[wait.event].name : "";
}

const ROW_HEIGHT = 24;

function drawRows() {
	const box = $("rows"), spacer = box.firstElementChild;
	const first = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - 4);
	const last = Math.min(state.list.length, first + Math.ceil(box.clientHeight / ROW_HEIGHT) + 8);

	spacer.style.height = state.list.length * ROW_HEIGHT + "px";
	box.replaceChildren(spacer);
	for (let i = first; i < last; i++) {
		const row = state.list[i], line = add("div", box, undefined, "row");

		line.style.top = i * ROW_HEIGHT + "px";
		line.dataset.index = i;
		line.classList.toggle("on", row === state.selected);
		add("span", line, row.name).title = row.cgroup;
		add("span", line, row.members ? "" : row.pid, "n");
		add("span", line, row.tasks, "n");
		add("span", line, time(row.life), "n");
		drawParts(add("div", line, undefined, "parts"), row);
		add("span", line, hasCpu(row) ? time(busyOf(row.shown)) : "n/a", "n");
		add("span", line, row.measured & 2 ? percent(row.shown[1], row.life) : "n/a", "n");
		add("span", line, topRoutine(row));
		add("span", line, waitsMostIn(row));
	}
}

/* Round times of an axis, at most @most of them: their distance is 1, 2 or 5 times a power of ten. */
function ticks(from, to, most) {
	const least = (to - from) / most || 1, unit = 10 ** Math.floor(Math.log10(least)), list = [];
	const step = unit * [1, 2, 5, 10].find((n) => n * unit >= least);

	for (let t = Math.ceil(from / step) * step; t <= to; t += step)
		list.push(t);
	return { step, list };
}

/* Seconds with as many digits as the distance of the ticks needs. */
const tickText = (t, step) => (t / 1e9).toFixed(Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9))) + " s";

const OVER_AXIS = 16;

function drawAxis(context, y, left, scale, begin, end) {
	const { step, list } = ticks(begin, end, (end - begin) * scale / 90);

	context.strokeStyle = colours.dim;
	context.fillStyle = colours.dim;
	context.lineWidth = 1;
	for (const t of list) {
		const x = left + (t - begin) * scale, text = tickText(t, step);

		context.beginPath();
		context.moveTo(x, y);
		context.lineTo(x, y + 4);
		context.stroke();
		if (x + context.measureText(text).width < left + (end - begin) * scale)
			context.fillText(text, x + 3, y + OVER_AXIS / 2 + 1);
	}
	return list.length;
}

/* Stacked bars by interval, for one row or for all rows. */
function drawBars(canvas, partsAt, capacity) {
	const { context, width, height: whole } = prepare(canvas), over = report.over, height = whole - OVER_AXIS;
	const begin = over.length ? over[0].from : 0, end = over.length ? over[over.length - 1].to : 1;
	const scale = (width - 2) / (end - begin || 1);

	context.fillStyle = colours.soft;
	context.fillRect(0, 0, width, height);
	let most = 0;

	for (let i = 0; i < over.length; i++) {
		const parts = partsAt(i), length = over[i].to - over[i].from || 1;

		most = Math.max(most, parts.reduce((sum, value) => sum + value, 0) / length);
	}
	most = capacity || most || 1;
	for (let i = 0; i < over.length; i++) {
		const parts = partsAt(i), length = over[i].to - over[i].from || 1;
		const x = 1 + (over[i].from - begin) * scale, w = Math.max(1, length * scale - (length * scale > 4 ? 1 : 0));
		let y = height;

		for (const [part, name] of PARTS.entries()) {
			const h = parts[part] / length / most * (height - 4);

			context.fillStyle = colours[name];
			context.fillRect(x, y - h, w, h);
			y -= h;
		}
		if (i === state.interval) {
			context.strokeStyle = colours.accent;
			context.lineWidth = 2;
			context.strokeRect(x, 1, w, height - 2);
		}
	}
	canvas.dataset.ticks = drawAxis(context, height, 1, scale, begin, end);
	context.fillStyle = colours.back;
	const label = `${most.toFixed(most < 1 ? 3 : 1)} CPU${most === 1 ? "" : "s"}`;

	context.fillRect(2, 1, context.measureText(label).width + 6, 15);
	context.fillStyle = colours.front;
	context.fillText(label, 5, 9);
	canvas.intervalAt = (x) => {
		const ns = begin + (x - 1) / scale;

		return over.findIndex((interval) => ns >= interval.from && ns < interval.to);
	};
}

const running = (parts) => [parts[0], parts[1], parts[2], 0, 0, parts[5]];

function drawOver() {
	const over = report.over, chosen = over[state.interval];

	$("over").hidden = !over.length;
	$("over-all").hidden = !chosen;
	$("over-title").textContent = chosen ?
		`CPU time of tasks; interval ${state.interval + 1} of ${over.length}: ${time(chosen.from)} to ${time(chosen.to)}` :
		over.length ? `CPU time of tasks in ${over.length} interval${over.length > 1 ? "s" : ""}; click on one to show only that interval` +
			(report.rows.every(hasCpu) ? "" : `; without ${report.rows.filter((row) => !hasCpu(row)).length} rows whose user and kernel time was not measured`) :
		"No time in this period: the bars below are since boot";
	if (over.length)
		drawBars($("over"), (i) => running(over[i].sum), 0);
}

function table(parent, heads, rows) {
	const element = add("table", parent), head = add("tr", add("thead", element)), body = add("tbody", element);

	for (const [title, number] of heads)
		add("th", head, title, number ? "n" : "");
	for (const cells of rows) {
		const line = add("tr", body);

		cells.forEach((cell, i) => {
			const td = add("td", line, cell instanceof Node ? undefined : cell, heads[i][1] ? "n" : heads[i][2] || "");

			if (cell instanceof Node)
				td.appendChild(cell);
			if (state.search && typeof cell === "string" && cell.toLowerCase().includes(state.search.toLowerCase()))
				line.className = "hit";
		});
	}
	return element;
}

function widthBar(part, whole, colour) {
	const bar = document.createElement("i");

	bar.style.width = Math.max(1, 60 * part / (whole || 1)) + "px";
	bar.style.background = colour;
	return bar;
}

function routineTable(box, title, routines) {
	const whole = routines.reduce((sum, r) => sum + r.excl, 0);

	if (!routines.length)
		return;
	add("h3", box, title);
	table(box, [["", false, "w"], ["share", true], ["routine"], ["count", true], ["incl", true], ["excl", true], ["longest of life", true],
		    ["in flight", true], ["group"]],
	      routines.sort((a, b) => b.excl - a.excl).map((r) => [
		      widthBar(r.excl, whole, colourOf(r.event)), percent(r.excl, whole), report.events[r.event].name,
		      r.count.toLocaleString("en"), time(r.incl), time(r.excl), r.longest ? time(r.longest) : "-", r.open || "",
		      report.events[r.event].group,
	      ]));
}

/* The regions of a row as a tree: each has its routines, and the regions inside it. */
function regionTree(row) {
	const root = { inside: new Map(), routines: new Map(), excl: 0 };

	for (const member of row.members || [row])
		for (const r of member.regions || []) {
			const path = [root];

			for (const name of r.path.split(" => ")) {
				const outer = path[path.length - 1];

				if (!outer.inside.has(name))
					outer.inside.set(name, { inside: new Map(), routines: new Map(), excl: 0 });
				path.push(outer.inside.get(name));
			}
			path.forEach((region) => region.excl += r.excl);
			mergeInto(path[path.length - 1].routines, [r], (x) => x.event * 2 + x.counter, ["counter"]);
		}
	return root;
}

function addRegion(parent, name, region, whole) {
	const box = add("details", parent, undefined, "region");

	box.open = true;
	add("summary", box, `${name}  ${time(region.excl)} in the kernel, ${percent(region.excl, whole)}`);
	if (region.routines.size)
		table(box, [["count", true], ["incl", true], ["excl", true], ["routine"]],
		      [...region.routines.values()].sort((a, b) => b.excl - a.excl).map((r) => [
			      r.count.toLocaleString("en"), r.counter ? "-" : time(r.incl), r.counter ? "-" : time(r.excl),
			      report.events[r.event].name,
		      ]));
	for (const [inner, value] of region.inside)
		addRegion(box, inner, value, whole);
}

function drawRegions(box, row) {
	const tree = regionTree(row);

	if (!tree.inside.size)
		return;
	add("h3", box, "Regions of the program, and the routines that ran for them");
	for (const [name, region] of tree.inside)
		addRegion(box, name, region, tree.excl);
}

function wakersOf(row, event) {
	const wakers = row.wakers.filter((w) => w.event === event).sort((a, b) => b.count - a.count);

	return wakers.slice(0, 3).map((w) => `${w.name} (${w.count})`).join(", ");
}

function drawDetail() {
	const box = $("detail"), row = state.selected;

	box.hidden = !row;
	if (!row)
		return;
	box.replaceChildren();
	routinesOf(row);
	add("h2", box, row.name + (row.members ? "" : `  ${row.pid}`));
	add("div", box, `${row.tasks} task${row.tasks === 1 ? "" : "s"}, ${row.live} alive; life ${time(row.life)}; ` +
	    PARTS.map((name, i) => row.measured >> i & 1 ? `${name} ${percent(row.parts[i], row.life)}` : `${name} n/a`).join(", "));
	if (row.cgroup)
		add("div", box, `control group ${row.cgroup}`);
	const links = add("div", box, undefined, "links");

	if (!row.members && lines.list.some((line) => line.tgid === row.pid && line.name)) {
		add("button", links, "timeline").onclick = () => {
			setSearch(String(row.pid));
			show("time");
		};
	}
	if (report.over.length && hasCpu(row)) {
		const canvas = add("canvas", box);

		canvas.id = "detail-over";
		drawBars(canvas, (i) => running(row.members ? sumMembers(row, i) : report.over[i].rows.get(row.index) || [0, 0, 0, 0, 0, 0]), 0);
	}
	routineTable(box, "Running", row.routines.filter((r) => !report.events[r.event].wait));
	routineTable(box, "Waiting", row.routines.filter((r) => report.events[r.event].wait));
	const waits = row.routines.filter((r) => !report.events[r.event].wait && r.asleep).sort((a, b) => b.asleep - a.asleep);

	drawRegions(box, row);
	if (waits.length) {
		add("h3", box, "Asleep inside");
		table(box, [["asleep", true], ["routine"], ["most often woken by"]],
		      waits.slice(0, 30).map((r) => [time(r.asleep), report.events[r.event].name, wakersOf(row, r.event)]));
	}
	if (row.counters.length) {
		add("h3", box, "Counters");
		table(box, [["count", true], ["sum", true], ["min", true], ["max", true], ["name"]],
		      row.counters.map((c) => [c.count, c.sum, c.min, c.max, report.events[c.event].name]));
	}
}

function sumMembers(row, i) {
	const sum = [0, 0, 0, 0, 0, 0];

	for (const member of row.members)
		(report.over[i].rows.get(member.index) || []).forEach((value, part) => sum[part] += value);
	return sum;
}

function drawProcesses() {
	listRows();
	drawHead();
	drawOver();
	drawDetail();
	drawRows();
}

function startProcesses() {
	state.over = (i) => report.over[i].to - report.over[i].from;
	$("by").onchange = () => {
		state.by = $("by").value;
		drawProcesses();
	};
	$("scale").onchange = () => {
		state.scale = $("scale").value;
		drawRows();
	};
	$("rows").onscroll = drawRows;
	$("rows").onclick = (event) => {
		const line = event.target.closest(".row");

		if (!line)
			return;
		const row = state.list[line.dataset.index];

		state.selected = state.selected === row ? null : row;
		drawDetail();
		drawRows();
	};
	$("rows").onmousemove = (event) => {
		const bar = event.target.closest(".parts");

		tip.show(event, bar && bar.dataset.tip);
	};
	$("rows").onmouseleave = tip.hide;
	$("over").onclick = (event) => {
		const i = $("over").intervalAt(event.offsetX);

		state.interval = i === state.interval ? -1 : i;
		drawProcesses();
	};
	$("over").onmousemove = (event) => {
		const i = $("over").intervalAt(event.offsetX), interval = report.over[i];

		tip.show(event, interval && `${time(interval.from)} to ${time(interval.to)}\n` +
			 PARTS.map((name, part) => `${name}: ${time(interval.sum[part])}`).filter((_, part) => part !== 4).join("\n"));
	};
	$("over").onmouseleave = tip.hide;
	$("over-all").onclick = () => {
		state.interval = -1;
		drawProcesses();
	};
}

/* Flame graph */

const flame = { root: null, focus: null, key: "" };

function child(node, key, name, colour) {
	let c = node.children.get(key);

	if (!c) {
		c = { name, colour, value: 0, self: 0, count: 0, children: new Map(), parent: node };
		node.children.set(key, c);
	}
	return c;
}

const newRoot = (name) => ({ name, colour: colours.rest, value: 0, self: 0, count: 0, children: new Map(), parent: null });

function addSelf(node, ns) {
	node.self += ns;
	for (; node; node = node.parent)
		node.value += ns;
}

/* Roots first; each path comes after its parent. */
function readPaths() {
	const s = new Section("paths"), paths = [];

	for (let n = s.number(); n > 0; n--) {
		const up = s.number();

		if (!up)
			paths.push({ parent: -1, name: report.texts[s.number()], self: 0 });
		else
			paths.push({ parent: paths.length - up, event: s.number(), self: s.number(), count: s.number() });
	}
	return paths;
}

function pathTree(cpu) {
	const root = newRoot("all traced tasks"), nodes = [];

	report.paths = report.paths || readPaths();
	for (const path of report.paths) {
		const e = report.events[path.event];
		const node = path.parent < 0 ? child(root, path.name, path.name, colours.rest) :
			child(nodes[path.parent], path.event, e.name, colourOf(path.event));

		nodes.push(node);
		node.count += path.count || 0;
		if (path.self && (cpu === "both" || (e.wait ? "off" : "on") === cpu))
			addSelf(node, path.self);
	}
	return root;
}

/* Profiles have no call paths, so the levels are process, part of the account, routine. */
function accountTree(cpu) {
	const root = newRoot("all tasks");

	for (const row of report.rows) {
		if (row.flags & IDLE)
			continue;
		const top = child(root, row.name, row.name, colours.rest);

		routinesOf(row);
		for (const [i, name] of PARTS.entries()) {
			const off = i === 3 || i === 4;

			if (row.parts[i] && (cpu === "both" || off === (cpu === "off")))
				addAccount(child(top, i, name, colours[name]), row, i);
		}
	}
	return root;
}

/* Add the routines of a part, limited to its total; the rest is the part's own time. */
function addAccount(node, row, part) {
	let left = row.parts[part];

	for (const r of row.routines) {
		const e = report.events[r.event];
		const where = e.wait ? (e.wait === 1 ? 4 : 3) : e.group === "irq" ? 2 : e.group === "kvm" ? 5 : 1;

		if (where !== part || e.group === "user" || !r.excl)
			continue;
		const c = child(node, r.event, e.name, colourOf(r.event)), ns = Math.min(left, r.excl);

		c.count += r.count;
		addSelf(c, ns);
		left -= ns;
	}
	addSelf(node, left);
}

function drawFlame() {
	const source = $("source").value, cpu = $("cpu").value, key = source + cpu;
	const box = $("frames"), begin = performance.now();

	if (flame.key !== key) {
		flame.root = flame.focus = source === "paths" ? pathTree(cpu) : accountTree(cpu);
		flame.key = key;
	}
	const focus = flame.focus, up = $("shape").value === "flame", width = box.clientWidth - 2;
	const word = state.search.toLowerCase(), boxes = [], path = [];
	let deepest = 0, hits = 0;

	for (let node = focus.parent; node; node = node.parent)
		path.unshift(node);
	const place = (node, x, w, depth, inside) => {
		const hit = word && node.name.toLowerCase().includes(word);

		deepest = Math.max(deepest, depth);
		if (hit && !inside)
			hits += node.value;
		boxes.push({ node, x, w, depth, hit });
		let left = x;

		for (const c of [...node.children.values()].sort((a, b) => b.value - a.value)) {
			const part = w * c.value / (node.value || 1);

			if (part < 0.6)
				break;
			place(c, left, part, depth + 1, inside || hit);
			left += part;
		}
	};

	path.forEach((node, i) => boxes.push({ node, x: 0, w: width, depth: i, hit: false }));
	if (focus.value)
		place(focus, 0, width, path.length, false);
	flame.boxes = boxes;
	const height = (deepest + 1) * 17, fragment = document.createDocumentFragment();

	boxes.forEach(({ node, x, w, depth, hit }, i) => {
		const frame = add("div", fragment, w > 28 ? node.name : undefined);

		frame.style.cssText = `left:${x}px;width:${Math.max(w, 1)}px;background:${node.colour};color:${inkOn(node.colour)};` +
			`top:${up ? height - (depth + 1) * 17 : depth * 17}px`;
		frame.dataset.index = i;
		if (word)
			frame.className = hit ? "hit" : "miss";
	});
	box.replaceChildren(fragment);
	if (!focus.value)
		add("p", box, source === "paths" ? "The file has no such time in a trace: record one with ktaud --info=both, or choose " +
			"\"account and routines\"" : "No such time", "none");
	$("flame-path").textContent = `${focus.name}: ${time(focus.value)}` +
		(word ? `; "${state.search}": ${time(hits)}, ${percent(hits, focus.value)}` : "");
	document.body.dataset.flameMs = (performance.now() - begin).toFixed(1);
}

function startFlame() {
	const box = $("frames"), at = (event) => {
		const frame = event.target.closest("#frames div");

		return frame && flame.boxes[frame.dataset.index].node;
	};

	for (const id of ["source", "cpu", "shape"])
		$(id).onchange = drawFlame;
	if (!lines.list.some((line) => line.bytes))
		$("source").value = "account";
	box.onclick = (event) => {
		flame.focus = at(event) || flame.focus;
		drawFlame();
	};
	box.onmousemove = (event) => {
		const node = at(event);

		tip.show(event, node && `${node.name}\n${time(node.value)}, ${percent(node.value, flame.root.value)} of all\n` +
			 `itself ${time(node.self)}` + (node.count ? `\n${node.count.toLocaleString("en")} times` : ""));
	};
	box.onmouseleave = tip.hide;
	$("flame-reset").onclick = () => {
		flame.focus = flame.root;
		drawFlame();
	};
}

/* Timeline */

const OP = { ENTER: 0, EXIT: 1, CUT: 2, LOST: 3, WOKEN: 4, CPU: 5, SWITCH: 6, MARK: 7 };
const LABEL = 190, LINE_HEIGHT = 20, DEPTH_HEIGHT = 14, AXIS = 22, MOST_ARROWS = 400;
const MARKS = { 7: "fork", 8: "exec", 9: "exit" };
/* A mark that ends a time on a CPU; its property "other" is the length minus 1. */
const RUN = 24;
/* Points begin at 32. */
const POINT = 32, POINTS = { 10: "comm", 11: "cgroup", 12: "net_send", 13: "net_recv", 14: "kvm_enter", 15: "kvm_exit" };
const UNITS = { 12: (n) => `, ${n} bytes`, 13: (n) => `, ${n} bytes`, 15: (n) => `, reason ${n}` };
/* Types of marks from programs: an event without a value, one with a value, and a message. */
const USER = { MARK: 18, VALUE: 19, MESSAGE: 20 };
const CONTEXTS = ["task", "softirq", "interrupt", "NMI"];
const STATES = { 0: "still runnable", 1: "interruptible", 2: "uninterruptible", 4: "stopped", 8: "traced",
		 16: "dead", 32: "zombie", 64: "parked", 128: "idle" };

const lines = { list: [], shown: [], from: 0, to: 1, begin: 0, end: 1, cut: 0, open: new Set(), boxes: [],
		views: [], names: [], cursor: null };

/* The colour of a state whose view has none. */
function stateColour(text) {
	let hash = 7;

	for (let i = 0; i < text.length; i++)
		hash = (hash * 31 + text.charCodeAt(i)) | 0;
	return `hsl(${(hash & 255) * 360 / 256} ${50 + (hash >> 8 & 15)}% ${64 + (hash >> 12 & 15)}%)`;
}

/* The rows of a view: when each of them was in which state. */
function readStates() {
	if (!$("data-states"))
		return;
	const s = new Section("states");

	lines.title = report.texts[s.number()];
	for (let n = s.number(); n > 0; n--) {
		const text = report.texts[s.number()], colour = report.texts[s.number()], kind = report.texts[s.number()];

		lines.names.push({ text, kind, colour: text === "?" ? "hatch" : colour || stateColour(text) });
	}
	for (let n = s.number(); n > 0; n--) {
		const row = { name: report.texts[s.number()], states: [], depths: [], gaps: [], woken: [], marks: [], switches: [], runs: [], flags: 0 };
		let ns = 0;

		for (let i = s.number(); i > 0; i--) {
			const start = ns + s.signed(), end = start + s.number();

			row.states.push({ start, end, name: lines.names[s.number()] });
			ns = end;
		}
		lines.views.push(row);
	}
}

/* Rows of views and of CPUs are not those of tasks. */
const isTask = (line) => !line.on && !line.states;

function readLines() {
	const s = lines.section = new Section("lines");
	let number = s.number();

	lines.cut = number ? s.number() : 0;
	for (; number > 0; number--) {
		const line = {
			index: lines.list.length, name: report.texts[s.number()], tgid: s.signed(),
			tid: s.signed(), flags: s.number(), cpu: s.number(), events: s.number(), start: s.signed(),
			span: s.number(), bytes: s.number(),
		};

		line.at = s.at;
		s.at += line.bytes;
		lines.list.push(line);
	}
	const traced = lines.list.filter((line) => line.bytes);

	lines.begin = traced.reduce((least, line) => Math.min(least, line.start), Infinity);
	lines.end = traced.reduce((most, line) => Math.max(most, line.start + line.span), -Infinity);
	lines.from = lines.begin;
	lines.to = Math.max(lines.end, lines.begin + 1);
}

/* A mark of a task; its property "other" is another task, or the event of a program. */
function readMark(s, ns) {
	const mark = { ns, type: s.number(), other: s.number() - 1 };

	if (mark.type < USER.MARK || mark.type === RUN)
		return mark;
	mark.value = s.number();
	mark.peer = s.signed();
	return mark;
}

function markText(mark) {
	if (mark.type >= POINT) {
		const type = mark.type - POINT;

		return `${POINTS[type]} ${report.texts[mark.other]}${UNITS[type] ? UNITS[type](mark.value) : ""}`;
	}
	if (mark.type >= USER.MARK) {
		const name = report.events[mark.other].name;

		if (mark.type === USER.MESSAGE)
			return `${name}: ${mark.value} bytes, process ${mark.peer}`;
		return mark.type === USER.VALUE ? `${name}: ${mark.value}` : name;
	}
	return MARKS[mark.type] + (mark.other >= 0 ? ` of ${lines.list[mark.other].name} ${lines.list[mark.other].tid}` : "");
}

/* Frames by depth. Frames of one depth do not overlap and are in time order. */
function decode(line) {
	if (line.depths)
		return line;
	const s = lines.section, end = line.at + line.bytes, stack = [];
	let ns = line.start, cpu = 0;

	Object.assign(line, { depths: [], gaps: [], woken: [], marks: [], switches: [], runs: [] });
	for (s.at = line.at; s.at < end;) {
		const word = s.number(), op = word % 8;

		ns += (word - op) / 8;
		switch (op) {
		case OP.ENTER: {
			const depth = stack.length;
			const level = line.depths[depth] = line.depths[depth] || { start: [], end: [], event: [], cpu: [], cut: new Set() };

			stack.push(level.start.length);
			level.start.push(ns);
			level.end.push(ns);
			level.event.push(s.number());
			level.cpu.push(cpu);
			break;
		}
		case OP.EXIT:
		case OP.CUT: {
			const i = stack.pop(), level = line.depths[stack.length];

			level.end[i] = ns;
			if (op === OP.CUT)
				level.cut.add(i);
			break;
		}
		case OP.LOST:
			line.gaps.push({ start: ns, end: ns + s.number(), count: s.number() });
			break;
		case OP.WOKEN:
			line.woken.push({ ns, waker: s.number() - 1, since: ns - s.number(), context: s.number() });
			break;
		case OP.CPU:
			cpu = s.number();
			break;
		case OP.SWITCH:
			line.switches.push({ ns, state: s.number() });
			break;
		case OP.MARK: {
			const mark = readMark(s, ns);

			if (mark.type === RUN)
				line.runs.push({ start: ns - mark.other - 1, end: ns, cpu });
			else
				line.marks.push(mark);
			break;
		}
		}
	}
	/* Frames that were still open at the end of the period, or when the page was full */
	while (stack.length) {
		const i = stack.pop(), level = line.depths[stack.length];

		level.end[i] = Math.max(level.end[i], lines.cut ? ns : report.meta.length);
		level.cut.add(i);
	}
	return line;
}

/* Index of the first element of a sorted array that is greater than @value. */
function above(array, value, get = (x) => x) {
	let low = 0, high = array.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (get(array[middle]) > value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* A row for each CPU: the tasks that were on it. Each run has its task; they do not overlap. */
function listCpus() {
	const cpus = new Map();

	for (const line of lines.list) {
		if (!line.bytes || line.flags & IDLE)
			continue;
		for (const { start, end, cpu } of decode(line).runs) {
			if (!cpus.has(cpu))
				cpus.set(cpu, { name: "CPU " + cpu, number: cpu, on: [], depths: [], gaps: [], woken: [], marks: [],
						switches: [], runs: [], flags: 0 });
			cpus.get(cpu).on.push({ start, end, line });
		}
	}
	lines.cpus = [...cpus.values()].sort((a, b) => a.number - b.number);
	for (const cpu of lines.cpus)
		cpu.on.sort((a, b) => a.end - b.end);
}

/* The colour of a task on the rows of the CPUs. */
const taskColour = (line) => `hsl(${line.tid * 47 % 360} 45% 72%)`;

function drawCpu(context, view, cpu, top) {
	let i = above(cpu.on, lines.from, (run) => run.end), drawn = LABEL;

	while (i < cpu.on.length && cpu.on[i].start < lines.to) {
		const { start, end, line } = cpu.on[i], x = Math.max(drawn, view.x(start)), right = Math.min(view.width, view.x(end));
		const other = lines.chosen && lines.chosen !== line && !lines.chosen.on, colour = other ? colours.rest : taskColour(line);

		context.fillStyle = colour;
		context.fillRect(x, top + 2, Math.max(1, right - x - (right - x > 3 ? 0.5 : 0)), LINE_HEIGHT - 5);
		if (right - x > 34) {
			context.fillStyle = inkOn(colour);
			context.fillText(fit(context, line.name, right - x - 6), x + 3, top + LINE_HEIGHT / 2);
		}
		drawn = Math.max(right, x + 1);
		i = Math.max(i + 1, above(cpu.on, lines.from + (drawn - LABEL) / view.scale, (r) => r.end));
	}
}

function drawStates(context, view, row, top) {
	let i = above(row.states, lines.from, (s) => s.end), drawn = LABEL;

	while (i < row.states.length && row.states[i].start < lines.to) {
		const { start, end, name } = row.states[i], x = Math.max(drawn, view.x(start)), right = Math.min(view.width, view.x(end));

		context.fillStyle = name.colour === "hatch" ? hatch(context) : name.colour;
		context.fillRect(x, top + 2, Math.max(1, right - x), LINE_HEIGHT - 5);
		view.states++;
		if (right - x > 34 && name.colour !== "hatch") {
			context.fillStyle = inkOn(name.colour);
			context.fillText(fit(context, name.text, right - x - 6), x + 3, top + LINE_HEIGHT / 2);
		}
		drawn = Math.max(right, x + 1);
		i = Math.max(i + 1, above(row.states, lines.from + (drawn - LABEL) / view.scale, (s) => s.end));
	}
}

function heightOf(line) {
	return lines.open.has(line) ? Math.max(LINE_HEIGHT, decode(line).depths.length * DEPTH_HEIGHT + 6) : LINE_HEIGHT;
}

function listLines() {
	const word = state.search.toLowerCase();

	lines.shown = lines.list.filter((line) => line.bytes &&
		(!word || line.name.toLowerCase().includes(word) || String(line.tid) === word || String(line.tgid) === word));
	/*
	 * A word that matches no task is taken as a routine: all tasks stay, and it is highlighted.
	 */
	lines.byRoutine = word && !lines.shown.length;
	if (lines.byRoutine)
		lines.shown = lines.list.filter((line) => line.bytes);
	lines.shown.sort((a, b) => (a.flags & IDLE) - (b.flags & IDLE) || a.tgid - b.tgid || a.tid - b.tid || a.index - b.index);
	if (!lines.cpus)
		listCpus();
	lines.tasks = lines.shown.length;
	const rows = lines.views.filter((row) => row.name.toLowerCase().includes(word));

	lines.shown.unshift(...(rows.length ? rows : lines.views), ...lines.cpus);
	let y = 0;

	for (const line of lines.list)
		line.y = undefined;
	for (const line of lines.shown) {
		line.y = y;
		line.height = heightOf(line);
		y += line.height;
	}
	lines.height = y;
}

/* Draw lines at round times below the frames, and the times above them. */
function axis(context, width, grid) {
	const scale = (width - LABEL) / (lines.to - lines.from), { step, list } = ticks(lines.from, lines.to, (width - LABEL) / 90);

	context.fillStyle = colours.back;
	context.fillRect(0, 0, width, grid ? 4000 : AXIS);
	context.strokeStyle = colours.line;
	context.fillStyle = colours.dim;
	context.lineWidth = 1;
	for (const t of list) {
		const x = LABEL + (t - lines.from) * scale;

		context.beginPath();
		context.moveTo(x, AXIS - 6);
		context.lineTo(x, grid ? 4000 : AXIS);
		context.stroke();
		/* If zoomed in, times are relative to the left edge. */
		context.fillText(step < 1e3 ? "+" + time(t - lines.from) : tickText(t, step), x + 3, AXIS / 2);
	}
}

/* What a frame of a wait was inside of: the innermost function or call. "" if that is not in the trace. */
function waitedIn(line, depth, i) {
	const ns = line.depths[depth].start[i];

	for (let outer = depth - 1; outer >= 0; outer--) {
		const level = line.depths[outer], k = above(level.end, ns);

		if (k < level.start.length && level.start[k] <= ns && !report.events[level.event[k]].wait)
			return report.events[level.event[k]].name;
	}
	return "";
}

/* The name of a frame: a wait is named by what was waited in or for, not by the state of the scheduler. */
function frameName(line, depth, i) {
	const e = report.events[line.depths[depth].event[i]];

	if (!e.wait)
		return e.name;
	if (e.wait !== 1)
		return "waits for a CPU";
	const where = waitedIn(line, depth, i);

	return where ? "asleep in " + where : "asleep";
}

/* Draw the frames of one depth. Frames narrower than a pixel are merged with the one before. */
function drawLevel(context, view, { line, depth }, y, height) {
	const { from, to } = lines, { scale, width } = view, word = lines.byRoutine && state.search.toLowerCase();
	const level = line.depths[depth];
	let i = above(level.end, from);

	while (i < level.start.length && level.start[i] < to) {
		const x = Math.max(LABEL, LABEL + (level.start[i] - from) * scale);
		const end = Math.min(width, LABEL + (level.end[i] - from) * scale);
		const e = report.events[level.event[i]];

		const colour = word && !e.name.toLowerCase().includes(word) ? colours.line : colourOf(level.event[i]);

		context.fillStyle = colour;
		view.frames++;
		if (end - x < 1) {
			context.fillRect(x, y, 1, height);
			i = Math.max(i + 1, above(level.end, from + (x + 1 - LABEL) / scale));
			continue;
		}
		context.fillRect(x, y, end - x - (end - x > 3 ? 0.5 : 0), height);
		if (level.cut.has(i)) {
			context.fillStyle = colours.gap;
			context.fillRect(end - 2, y, 2, height);
		}
		if (end - x > 34 && height > 9) {
			context.fillStyle = inkOn(colour);
			context.fillText(fit(context, frameName(line, depth, i), end - x - 6), x + 3, y + height / 2 + 0.5);
		}
		i++;
	}
}

function fit(context, text, width) {
	const letters = Math.floor(width / 5.5);

	return text.length > letters ? text.slice(0, Math.max(1, letters - 1)) + "…" : text;
}

/* A stripe while the task is on a CPU, in the kernel or not. Those in one pixel become one. */
function drawRuns(context, view, line, y) {
	let i = above(line.runs, lines.from, (run) => run.end);

	context.fillStyle = colours.accent;
	while (i < line.runs.length && line.runs[i].start < lines.to) {
		const x = Math.max(LABEL, view.x(line.runs[i].start)), end = Math.min(view.width, view.x(line.runs[i].end));

		context.fillRect(x, y, Math.max(1, end - x), 2);
		i = end - x < 1 ? Math.max(i + 1, above(line.runs, lines.from + (x + 1 - LABEL) / view.scale, (run) => run.end)) : i + 1;
	}
}

function drawLine(context, view, line, top) {
	const open = lines.open.has(line);

	decode(line);
	context.fillStyle = line === lines.chosen ? colours.select : colours.back;
	context.fillRect(0, top, LABEL, line.height);
	context.fillStyle = colours.front;
	context.fillText((!isTask(line) ? "" : open ? "▾ " : "▸ ") + fit(context, `${line.name || "?"} ${line.tid || ""}`, LABEL - 22), 6, top + LINE_HEIGHT / 2);
	context.fillStyle = colours.soft;
	context.fillRect(LABEL, top + line.height - 1, view.width, 1);
	if (line.on) {
		drawCpu(context, view, line, top);
		return;
	}
	if (line.states) {
		drawStates(context, view, line, top);
		return;
	}
	drawRuns(context, view, line, top + line.height - 3);
	line.depths.forEach((_, depth) => {
		if (open)
			drawLevel(context, view, { line, depth }, top + 3 + depth * DEPTH_HEIGHT, DEPTH_HEIGHT - 1);
		else if (depth < 6)
			drawLevel(context, view, { line, depth }, top + 2 + depth * 2, LINE_HEIGHT - 4 - depth * 2);
	});
	for (let i = above(line.gaps, lines.from, (gap) => gap.end); i < line.gaps.length && line.gaps[i].start < lines.to; i++) {
		const x = Math.max(LABEL, view.x(line.gaps[i].start)), end = Math.min(view.width, view.x(line.gaps[i].end));

		context.fillStyle = hatch(context);
		context.fillRect(x, top + 1, Math.max(2, end - x), line.height - 3);
		view.gaps++;
	}
	context.fillStyle = colours.front;
	for (let i = above(line.marks, lines.from, (mark) => mark.ns); i < line.marks.length && line.marks[i].ns < lines.to; i++) {
		const x = view.x(line.marks[i].ns);

		context.beginPath();
		context.moveTo(x - 3, top + 1);
		context.lineTo(x + 3, top + 1);
		context.lineTo(x, top + 6);
		context.fill();
	}
}

/* Wakeups: arrows from the waker at the time of the wakeup to the task when it ran. */
function findArrows(rows) {
	const arrows = [];

	for (const line of rows) {
		for (let i = above(line.woken, lines.from, (w) => w.ns); i < line.woken.length && line.woken[i].since < lines.to; i++) {
			const w = line.woken[i];

			if (w.waker >= 0 && lines.list[w.waker] !== line && lines.list[w.waker].y !== undefined)
				arrows.push({ line, w, waker: lines.list[w.waker] });
			if (arrows.length > MOST_ARROWS)
				return arrows;
		}
	}
	return arrows;
}

function drawArrows(context, view, rows) {
	let arrows = findArrows(rows);
	const found = arrows.length;

	if (arrows.length > MOST_ARROWS)
		arrows = lines.chosen && rows.includes(lines.chosen) ? findArrows([lines.chosen]) : [];
	if (arrows.length > MOST_ARROWS)
		arrows = [];
	context.save();
	context.beginPath();
	context.rect(LABEL, AXIS, view.width, view.height);
	context.clip();
	context.strokeStyle = context.fillStyle = colours.accent;
	context.lineWidth = 1;
	for (const { line, w, waker } of arrows) {
		const x = view.x(w.since), y = view.y(waker) + LINE_HEIGHT / 2, x2 = view.x(w.ns), y2 = view.y(line) + LINE_HEIGHT / 2;
		const back = y2 > y ? -5 : 5;

		context.setLineDash(w.context ? [3, 2] : []);
		context.beginPath();
		context.moveTo(x, y);
		context.bezierCurveTo(x + 8, y, x2 - 8, y2 + back * 3, x2, y2 + back);
		context.stroke();
		context.beginPath();
		context.moveTo(x2 - 3, y2 + back);
		context.lineTo(x2 + 3, y2 + back);
		context.lineTo(x2, y2);
		context.fill();
	}
	context.restore();
	view.tooMany = !arrows.length && found > 0;
	return arrows.length;
}

function drawTime() {
	const box = $("time-box"), canvas = $("line"), begin = performance.now();

	if (!lines.list.some((line) => line.bytes)) {
		box.hidden = true;
		$("time-range").textContent = "The file contains no trace: record one with ktaud --info=both";
		return;
	}
	box.lastElementChild.style.height = Math.max(0, lines.height + AXIS - box.clientHeight) + "px";
	canvas.style.height = box.clientHeight + "px";
	const { context, width, height } = prepare(canvas, box.clientHeight), top = box.scrollTop;
	const scale = (width - LABEL) / (lines.to - lines.from);
	const view = {
		scale, width, height, frames: 0, gaps: 0, states: 0,
		x: (ns) => LABEL + (ns - lines.from) * scale,
		y: (line) => line.y - top + AXIS,
	};
	const first = Math.max(0, above(lines.shown, top, (line) => line.y) - 1), rows = [];

	for (let i = first; i < lines.shown.length && lines.shown[i].y < top + height; i++)
		rows.push(lines.shown[i]);
	axis(context, width, true);
	for (const line of rows)
		drawLine(context, view, line, view.y(line));
	const arrows = $("arrows").checked ? drawArrows(context, view, rows) : 0;

	axis(context, width, false);
	drawCursor(context, view);
	lines.rows = rows;
	$("time-range").textContent = `${time(lines.from)} to ${time(lines.to)}, ${time(lines.to - lines.from)}`;
	$("time-count").textContent = (lines.title ? `${lines.title}; ` : "") + `${lines.tasks} tasks` + (lines.cut ? `; ${lines.cut} events were left out because the page is full` : "") +
		(view.tooMany ? "; zoom in or select a task to see its wakeups" : "");
	Object.assign(canvas.dataset, { frames: view.frames, gaps: view.gaps, states: view.states, arrows, rows: rows.length });
	document.body.dataset.zoomMs = (performance.now() - begin).toFixed(1);
}

/* A line through all rows at the time of the last click, and the row's state or frame then. */
function drawCursor(context, view) {
	const { cursor } = lines, x = cursor && view.x(cursor.ns);

	$("time-cursor").textContent = cursor ? `${tickText(cursor.ns, 1e3)}: ${cursor.text}` : "";
	if (!cursor || x < LABEL || x > view.width)
		return;
	context.fillStyle = colours.accent;
	context.fillRect(x - 0.5, 0, 1, view.height);
}

function setWindow(from, to) {
	const least = 50, length = lines.end - lines.begin || 1, pad = length * 0.02;
	let span = Math.min(Math.max(to - from, least), length + 2 * pad);

	from = Math.max(lines.begin - pad, Math.min(from, lines.end + pad - span));
	lines.from = from;
	lines.to = from + span;
	drawTime();
}

function zoom(factor, at) {
	const x = at ?? (lines.from + lines.to) / 2;

	setWindow(x - (x - lines.from) * factor, x + (lines.to - x) * factor);
}

const pan = (part) => setWindow(lines.from + part * (lines.to - lines.from), lines.to + part * (lines.to - lines.from));

/* Find what is under the pointer. */
function atPointer(event) {
	const canvas = $("line"), y = event.offsetY + $("time-box").scrollTop - AXIS, width = canvas.clientWidth;
	const line = (lines.rows || []).find((l) => y >= l.y && y < l.y + l.height);
	const ns = lines.from + (event.offsetX - LABEL) / (width - LABEL) * (lines.to - lines.from);
	const near = (lines.to - lines.from) / (width - LABEL) * 3;

	return { line, ns, near, y: line ? y - line.y : 0, label: event.offsetX < LABEL };
}

function frameAt({ line, ns, near, y }) {
	const only = lines.open.has(line) ? Math.floor((y - 3) / DEPTH_HEIGHT) : -1;
	let best = null;

	line.depths.forEach((level, depth) => {
		if (only >= 0 && depth !== only)
			return;
		const i = above(level.end, ns);

		if (i < level.start.length && level.start[i] <= ns + (only >= 0 ? near : 0))
			best = { level, i, depth };
	});
	return best;
}

function describeCpu({ line, ns, near }) {
	const run = line.on[above(line.on, ns - near, (r) => r.end)];

	if (!run || run.start > ns + near)
		return `${line.name}\nno traced task`;
	return `${line.name}\n${run.line.name} ${run.line.tid} for ${time(run.end - run.start)}, from ${time(run.start)}`;
}

/* The state at this time, or one that is so short that the pointer cannot be on it. */
function stateAt({ line, ns, near }) {
	const i = above(line.states, ns, (s) => s.end);

	if (line.states[i] && line.states[i].start <= ns)
		return line.states[i];
	return [line.states[i - 1], line.states[i]].find((s) => s && s.start <= ns + near && s.end >= ns - near);
}

function describeState(at) {
	const found = stateAt(at);

	return `${at.line.name}\n` + (found ? `${found.name.text} for ${time(found.end - found.start)}, from ${time(found.start)}` : "no state");
}

function describe(at) {
	const { line, ns, near } = at;

	if (line.on)
		return describeCpu(at);
	if (line.states)
		return describeState(at);
	const text = [`${line.name} ${line.tid}`], frame = frameAt(at);
	const gap = line.gaps.find((g) => g.start <= ns + near && g.end >= ns - near);

	if (gap)
		text.push(`${gap.count || "more"} slots lost in ${time(gap.end - gap.start)}: ${ADVICE.lost_overwritten}`);
	if (frame) {
		const { level, i } = frame, e = report.events[level.event[i]];

		text.push(`${frameName(line, frame.depth, i)} (${e.wait ? e.name : e.group})  ${time(level.end[i] - level.start[i])}`,
			  `from ${time(level.start[i])}, CPU ${level.cpu[i]}`);
		if (level.cut.has(i))
			text.push("its end was not recorded");
	}
	const run = line.runs[above(line.runs, ns, (r) => r.end)];

	if (run && run.start <= ns)
		text.push(`on CPU ${run.cpu} for ${time(run.end - run.start)}`);
	for (const w of line.woken) {
		if (w.ns >= ns - near && w.since <= ns + near) {
			const waker = lines.list[w.waker];

			text.push(`woken by ${waker ? waker.name + " " + waker.tid : "a hidden task"} (${CONTEXTS[w.context] || "?"}), ran ${time(w.ns - w.since)} later`);
			break;
		}
	}
	for (const m of line.marks)
		if (Math.abs(m.ns - ns) < near)
			text.push(markText(m));
	const off = line.switches.find((w) => Math.abs(w.ns - ns) < near);

	if (off)
		text.push(`leaves the CPU: ${STATES[off.state] || off.state}`);
	return text.join("\n");
}

function dragTime(canvas) {
	let drag = null;

	canvas.onmousedown = (event) => {
		const at = atPointer(event);

		if (at.label && at.line && isTask(at.line)) {
			lines.chosen = at.line;
			if (!lines.open.delete(at.line))
				lines.open.add(at.line);
			listLines();
			drawTime();
			return;
		}
		if (at.line)
			lines.chosen = isTask(at.line) ? at.line : null;
		drag = { x: event.clientX, from: lines.from, to: lines.to, at };
	};
	addEventListener("mousemove", (event) => {
		if (!drag || !event.buttons) {
			drag = null;
			return;
		}
		const by = (drag.x - event.clientX) / (canvas.clientWidth - LABEL) * (drag.to - drag.from);

		setWindow(drag.from + by, drag.to + by);
	});
	addEventListener("mouseup", (event) => {
		const click = drag && Math.abs(event.clientX - drag.x) < 3 && !drag.at.label;

		if (click)
			lines.cursor = { ns: drag.at.ns, text: drag.at.line ? describe(drag.at).replaceAll("\n", ", ") : "" };
		if (drag)
			drawTime();
		drag = null;
	});
}

function startTime() {
	const canvas = $("line");

	dragTime(canvas);
	canvas.addEventListener("wheel", (event) => {
		if (!event.ctrlKey && !event.altKey && event.offsetX < LABEL)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			pan((event.deltaX || event.deltaY) / 1000);
		else
			zoom(event.deltaY > 0 ? 1.25 : 0.8, atPointer(event).ns);
	}, { passive: false });
	canvas.onmousemove = (event) => {
		const at = atPointer(event);

		tip.show(event, !event.buttons && at.line && at.line.depths && !at.label && describe(at));
	};
	canvas.onmouseleave = tip.hide;
	canvas.ondblclick = (event) => {
		const at = atPointer(event), frame = at.line && !at.label && frameAt(at);
		const found = at.line && at.line.states && !at.label && stateAt(at);

		if (found) {
			const length = found.end - found.start;

			setWindow(found.start - length * 0.1, found.end + length * 0.1);
		} else if (frame) {
			const { level, i } = frame, length = level.end[i] - level.start[i] || 100;

			setWindow(level.start[i] - length * 0.1, level.end[i] + length * 0.1);
		}
	};
	$("time-box").onscroll = drawTime;
	$("fit").onclick = () => setWindow(lines.begin, lines.end);
	$("zoom-in").onclick = () => zoom(0.5);
	$("zoom-out").onclick = () => zoom(2);
	$("arrows").onchange = drawTime;
}

/* CPUs */

const HEAT_ROW = 17, HEAT_LABEL = 260;

function heatRows() {
	const rows = new Map(), word = state.search.toLowerCase();

	report.over.forEach((interval, i) => {
		for (const { cpu, event, ns } of interval.cpus) {
			const key = cpu + " " + event;
			let row = rows.get(key);

			if (!row)
				rows.set(key, row = { cpu, event, sum: 0, at: new Map() });
			row.sum += ns;
			row.at.set(i, ns);
		}
	});
	return [...rows.values()].filter((row) => !word || report.events[row.event].name.toLowerCase().includes(word))
		.sort((a, b) => a.cpu - b.cpu || b.sum - a.sum);
}

/* Logarithmic colour scale from nothing to the whole interval, because interrupts are short. */
function heatColour(share) {
	const level = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(share, 1e-9)) / 5));

	return `hsl(${50 - 55 * level} 90% ${document.documentElement.dataset.theme === "dark" ? 18 + 42 * level : 94 - 52 * level}%)`;
}

function drawHeat() {
	const canvas = $("heat"), rows = heatRows(), over = report.over;

	canvas.style.width = "100%";
	canvas.style.height = rows.length * HEAT_ROW + OVER_AXIS + "px";
	const { context, width, height } = prepare(canvas, rows.length * HEAT_ROW + OVER_AXIS);
	const cell = (width - HEAT_LABEL) / (over.length || 1);

	context.fillStyle = colours.back;
	context.fillRect(0, 0, width, height);
	rows.forEach((row, y) => {
		const top = y * HEAT_ROW;

		context.fillStyle = colours.front;
		context.fillText(`CPU ${row.cpu}`, 2, top + HEAT_ROW / 2);
		context.fillText(fit(context, report.events[row.event].name, 140), 52, top + HEAT_ROW / 2);
		context.fillStyle = colours.dim;
		context.fillText(time(row.sum), 196, top + HEAT_ROW / 2);
		context.fillStyle = colours.soft;
		context.fillRect(HEAT_LABEL, top, width, HEAT_ROW - 1);
		for (const [i, ns] of row.at) {
			context.fillStyle = heatColour(ns / (over[i].to - over[i].from || 1));
			context.fillRect(HEAT_LABEL + i * cell, top, Math.max(1, cell - (cell > 4 ? 1 : 0)), HEAT_ROW - 1);
		}
	});
	/* The intervals are of equal width, whatever their length. */
	context.fillStyle = colours.dim;
	for (let i = 0; i < over.length; i += Math.ceil(70 / cell))
		context.fillText(time(over[i].from), HEAT_LABEL + i * cell, height - OVER_AXIS / 2);
	canvas.dataset.rows = rows.length;
	$("heat-title").textContent = rows.length ? "Interrupts and softirqs by CPU and interval, regardless of the interrupted task" :
		"The file contains no interrupts by interval";
	canvas.onmousemove = (event) => {
		const row = rows[Math.floor(event.offsetY / HEAT_ROW)], i = Math.floor((event.offsetX - HEAT_LABEL) / cell);

		tip.show(event, row && over[i] && `CPU ${row.cpu}: ${report.events[row.event].name}\n` +
			 `${time(over[i].from)} to ${time(over[i].to)}: ${time(row.at.get(i) || 0)}, ` +
			 percent(row.at.get(i) || 0, over[i].to - over[i].from));
	};
	canvas.onmouseleave = tip.hide;
}

function drawCpus() {
	const box = $("cpu-table"), rows = [];

	drawHeat();
	for (const cpu of report.cpus) {
		routinesOf(cpu, report.cpuData);
		for (const r of cpu.routines)
			rows.push([cpu, r]);
	}
	box.replaceChildren();
	table(box, [["CPU", true], ["time", true], ["tasks", true], ["irq", true], ["idle", true]],
	      report.cpus.map((c) => [c.cpu, time(c.life), percent(c.parts[1], c.life), percent(c.parts[2], c.life), percent(c.parts[4], c.life)]));
	table(box, [["CPU", true], ["count", true], ["incl", true], ["excl", true], ["longest of life", true], ["routine"]],
	      rows.sort((a, b) => b[1].excl - a[1].excl).slice(0, 500).map(([cpu, r]) => [
		      cpu.cpu, r.count.toLocaleString("en"), time(r.incl), time(r.excl), r.longest ? time(r.longest) : "-",
		      report.events[r.event].name,
	      ]));
}

/* Losses */

/* What to do about a loss. */
const ADVICE = {
	lost_overwritten: "give the rings more slots (ktau control ring=4096), read them more often (ktaud --period), or trace fewer groups",
	lost_evicted: "raise exited_limit= of ktau control, or read more often (ktaud --period)",
	evicted: "raise exited_limit= of ktau control, or read more often (ktaud --period)",
	evicted_activations: "raise exited_limit= of ktau control, or read more often (ktaud --period)",
	lost_no_room: "give the rings more slots (ktau control ring=4096)",
	lost_no_ring: "raise memory_limit= of ktau control",
	refused: "raise memory_limit= of ktau control",
	refused_memory_limit: "raise memory_limit= of ktau control",
	refused_user_limit: "raise memory_limit= of ktau control",
	refused_no_chunk: "raise memory_limit= of ktau control",
	refused_no_memory: "free memory on the machine",
	denied: "read as a user with CAP_PERFMON, or lower kernel.ktau_paranoid",
	lost_periods: "make room for the files of ktaud: the time is in the next period",
	inconsistent_accounts: "run ktau check, and report the result",
	internal_errors: "report it with the kernel's messages",
};

/* Slots that tasks lost, most first. */
function lossesByTask() {
	return lines.list.filter((line) => line.bytes && decode(line).gaps.length).map((line) => ({
		line, slots: line.gaps.reduce((sum, gap) => sum + gap.count, 0), ns: line.gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0),
	})).sort((a, b) => b.slots - a.slots);
}

function drawLosses() {
	const box = $("losses");

	box.replaceChildren();
	add("h2", box, report.losses.length ? "Losses in this period" : "No losses in this period");
	if (report.losses.length)
		table(box, [["count", true], ["name"], ["meaning"], ["what to do"]],
		      report.losses.map((l) => [l.value.toLocaleString("en"), l.name, l.meaning, ADVICE[l.name] || ""]));
	const tasks = lossesByTask();

	if (tasks.length) {
		add("h2", box, "Tasks that lost slots of their trace");
		table(box, [["slots", true], ["gaps", true], ["time", true], ["task"]], tasks.slice(0, 100).map(({ line, slots, ns }) =>
			[slots.toLocaleString("en"), line.gaps.length, time(ns), `${line.name} ${line.tid}`]));
	}
	if (lines.cut)
		add("p", box, `${lines.cut} events of the trace were left out because the page is full: select a shorter period with --from and --to.`);
	const capacity = report.meta.length * report.meta.cpus;

	add("p", box, `KTAU's own cost (estimate): ${time(report.meta.own)} for ${report.meta.pairs.toLocaleString("en")} pairs of enter and exit, ` +
	    `${percent(report.meta.own, capacity)} of ${report.meta.cpus} CPUs.`);
	if (report.meta.round)
		add("p", box, `Times are rounded down to multiples of ${time(report.meta.round)}.`);
}

/* Delays */

const BANDS = { names: 12, width: 900, height: 320, label: 200, node: 10, gap: 5 };

/* Who waited for whom, if the page has that. */
function readDelays() {
	if (!$("data-delays"))
		return;
	const s = new Section("delays"), text = () => report.texts[s.number()];

	report.delays = { tasks: s.number(), ns: s.number(), rows: [] };
	for (let n = s.number(); n > 0; n--)
		report.delays.rows.push({ victim: text(), by: text(), state: text(), within: text(), ns: s.number(), count: s.number() });
	document.querySelector("[data-view=delays]").hidden = false;
}

/* The nodes of one side of the graph, by name. All but the largest ones share a node. */
function delayNodes(side) {
	const sums = new Map(), nodes = new Map();

	for (const row of report.delays.rows)
		sums.set(row[side], (sums.get(row[side]) || 0) + row.ns);
	const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
	const rest = { name: `(${names.length - BANDS.names} others)`, ns: 0, used: 0 };

	names.forEach((name, i) => nodes.set(name, i < BANDS.names ? { name, ns: 0, used: 0 } : rest));
	for (const [name, node] of nodes)
		node.ns += sums.get(name);
	return nodes;
}

const svg = (tag, parent, attributes, text) => {
	const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));

	for (const name in attributes)
		element.setAttribute(name, attributes[name]);
	if (text !== undefined)
		element.textContent = text;
	return element;
};

/* Draw the nodes of one side below each other, as high as their sums. */
function drawDelayNodes(picture, nodes, left, scale) {
	const x = left ? BANDS.label : BANDS.width - BANDS.label - BANDS.node;
	let y = 0;

	for (const node of new Set(nodes.values())) {
		const height = Math.max(1, node.ns * scale);

		node.y = y;
		svg("rect", picture, { x, y, width: BANDS.node, height, fill: stateColour(node.name) });
		svg("text", picture, { x: left ? x - 6 : x + BANDS.node + 6, y: y + height / 2 + 4, "text-anchor": left ? "end" : "start" },
		    `${node.name.length > 20 ? node.name.slice(0, 19) + "\u2026" : node.name}  ${time(node.ns)}`);
		y += Math.max(height, 12) + BANDS.gap;
	}
	return y;
}

/* A band from each name that waited to each name that it waited for, as wide as the time. */
function drawBands(box) {
	const picture = svg("svg", box, { width: BANDS.width, role: "img", "aria-label": "Who waited for whom" });
	const victims = delayNodes("victim"), causes = delayNodes("by"), bands = new Map(), scale = BANDS.height / (report.delays.ns || 1);
	const height = Math.max(drawDelayNodes(picture, victims, true, scale), drawDelayNodes(picture, causes, false, scale));
	const from = BANDS.label + BANDS.node, to = BANDS.width - BANDS.label - BANDS.node, middle = BANDS.width / 2;

	picture.setAttribute("height", height);
	for (const row of report.delays.rows) {
		const victim = victims.get(row.victim), cause = causes.get(row.by), key = `${victim.y} ${cause.y}`;
		const band = bands.get(key) || { victim, cause, ns: 0 };

		band.ns += row.ns;
		bands.set(key, band);
	}
	for (const { victim, cause, ns } of [...bands.values()].sort((a, b) => a.victim.y - b.victim.y || a.cause.y - b.cause.y)) {
		const width = ns * scale, y = victim.y + victim.used + width / 2, end = cause.y + cause.used + width / 2;
		const band = svg("path", picture, { d: `M${from} ${y}C${middle} ${y} ${middle} ${end} ${to} ${end}`,
						    stroke: stateColour(cause.name), "stroke-width": Math.max(0.5, width), "data-ns": ns });

		svg("title", band, {}, `${victim.name} waited ${time(ns)} for ${cause.name}`);
		victim.used += width;
		cause.used += width;
	}
}

function drawDelays() {
	const box = $("delays"), delays = report.delays;

	box.replaceChildren();
	add("h2", box, `${delays.tasks.toLocaleString("en")} tasks waited ${time(delays.ns)}: left who waited, right for whom`);
	drawBands(box);
	table(box, [["share", true], ["time", true], ["times", true], ["waited"], ["for"], ["state"], ["in"]], delays.rows.map((row) =>
		[percent(row.ns, delays.ns), time(row.ns), row.count.toLocaleString("en"), row.victim, row.by, row.state, row.within]));
}

/* The page */

const VIEWS = { processes: drawProcesses, flame: drawFlame, time: () => { listLines(); drawTime(); }, cpus: drawCpus, losses: drawLosses, delays: drawDelays };

function show(view) {
	state.view = view;
	tip.hide();
	for (const name in VIEWS)
		$(name).hidden = name !== view;
	for (const tab of document.querySelectorAll("[role=tab]"))
		tab.setAttribute("aria-selected", tab.dataset.view === view);
	VIEWS[view]();
	document.body.dataset.view = view;
	drawLegend();
}

function setSearch(word) {
	$("search").value = state.search = word;
	$("rows").scrollTop = $("time-box").scrollTop = 0;
}

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	readColours();
	for (const e of report.events)
		e.colour = undefined;
	flame.key = "";
}

const PART_NAMES = { user: "user mode", kernel: "kernel", irq: "interrupts", runq: "waits for a CPU", asleep: "asleep", guest: "guest" };
const GROUP_NAMES = {
	syscall: "system calls", irq: "interrupts", bh: "softirqs", exception: "exceptions", signal: "signals", socket: "sockets",
	tcp: "TCP", icmp: "ICMP", wait: "waits", func: "functions", user: "program", kvm: "guest mode", account: "kernel itself",
};

/* The colours of routines by group, of those groups that are in the page. */
function groupLegend() {
	const groups = new Set(report.events.filter((e) => !e.wait && e.group !== "-").map((e) => e.group));

	return [...Object.keys(GROUP_NAMES).filter((group) => groups.delete(group)), ...groups]
		.map((group) => [`hsl(${hueOf(group)} 62% 70%)`, GROUP_NAMES[group] ?? group])
		.concat([[colours.asleep, "asleep"], [colours.runq, "waits for a CPU"]]);
}

/* The states of a view, each kind once. */
function stateLegend() {
	const kinds = new Map();

	for (const name of lines.names)
		if (!kinds.has(name.kind))
			kinds.set(name.kind, name.colour);
	return [...kinds].slice(0, 12).map(([kind, colour]) => [colour, kind]);
}

const LEGENDS = {
	processes: () => PARTS.map((name) => [colours[name], PART_NAMES[name]]),
	flame: () => [...groupLegend(), ["", "width: time"]],
	time: () => [...stateLegend(), ...groupLegend(), [colours.accent, "on a CPU; arrows: wakeups"], ["hatch", "slots lost"], ["", "\u25bc fork, exec, exit, events"]],
	cpus: () => [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1].map((share) => [heatColour(share), +(share * 100).toPrecision(1) + "%"])
		.concat([["", "of the interval"]]),
	losses: () => [],
	delays: () => [["", "width: time"]],
};

function drawLegend() {
	const box = $("legend");

	box.replaceChildren();
	for (const [colour, name] of LEGENDS[state.view]()) {
		const item = add("span", box);

		if (colour)
			add("i", item, undefined, colour === "hatch" ? "hatch" : "").style.background = colour === "hatch" ? "" : colour;
		item.append(name);
	}
}

function drawFacts() {
	const m = report.meta, box = $("facts"), end = new Date((m.from + m.length) / 1e6);

	add("b", box, m.host);
	box.append(`  Linux ${m.release}  ${m.machine}  ${m.cpus} CPU${m.cpus === 1 ? "" : "s"}  ${time(m.length)} to ` +
		   `${end.toISOString().replace("T", " ").replace(/\..*/, "")} UTC  ${m.source}`);
	document.title = `KTAU: ${m.host}`;
	if (!report.losses.length)
		return;
	$("badge").hidden = false;
	const [first, ...others] = report.losses;

	$("badge").textContent = `${first.value.toLocaleString("en")} ${first.meaning}` + (others.length ? `, and ${others.length} more` : "");
	$("badge").onclick = () => show("losses");
}

const TIME_KEYS = {
	w: () => zoom(0.7), s: () => zoom(1.4), a: () => pan(-0.2), d: () => pan(0.2), f: () => setWindow(lines.begin, lines.end),
	"+": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
};

function onKey(event) {
	if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) {
		if (event.key === "Escape")
			event.target.blur();
		return;
	}
	const tabs = Object.keys(VIEWS).filter((name) => name !== "delays" || report.delays);

	if (event.key === "/") {
		event.preventDefault();
		$("search").focus();
	} else if (tabs[event.key - 1]) {
		show(tabs[event.key - 1]);
	} else if (state.view === "time" && TIME_KEYS[event.key]) {
		event.preventDefault();
		TIME_KEYS[event.key]();
	} else if (state.view === "flame" && event.key === "Escape") {
		$("flame-reset").click();
	}
}

function start() {
	report.texts = readTexts();
	report.meta = readMeta();
	report.events = readEvents();
	report.rows = readRows();
	report.cpus = readCpus();
	report.losses = readLosses();
	readRegions();
	report.over = readOver();
	setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	drawFacts();
	readLines();
	readStates();
	readDelays();
	startProcesses();
	startFlame();
	startTime();
	for (const tab of document.querySelectorAll("[role=tab]"))
		tab.onclick = () => show(tab.dataset.view);
	$("theme").onclick = () => {
		setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
		show(state.view);
	};
	$("search").oninput = () => {
		setSearch($("search").value);
		VIEWS[state.view]();
	};
	addEventListener("keydown", onKey);
	addEventListener("resize", () => VIEWS[state.view]());
	show("processes");
	requestAnimationFrame(() => requestAnimationFrame(() => {
		document.body.dataset.readyMs = performance.now().toFixed(0);
	}));
}

start();
