// SPDX-License-Identifier: GPL-2.0-only
/* The page: its tabs, legends and keys. */

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
