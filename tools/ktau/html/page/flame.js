// SPDX-License-Identifier: GPL-2.0-only
/* The tab with the flame graph. */

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
