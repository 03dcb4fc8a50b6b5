// SPDX-License-Identifier: GPL-2.0-only
/* The tab "Losses". */

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
