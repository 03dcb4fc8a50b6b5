// SPDX-License-Identifier: GPL-2.0-only
/* Who delayed whom. */

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
