// SPDX-License-Identifier: GPL-2.0-only
/* The time line: tasks, CPUs and the rows of views. */

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
