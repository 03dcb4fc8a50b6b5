// SPDX-License-Identifier: GPL-2.0-only
/* The tab "CPUs". */

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
