// SPDX-License-Identifier: GPL-2.0-only
/* The tab "Processes": rows, what they did over time, and the routines and regions of one. */

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
