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
