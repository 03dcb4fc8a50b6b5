// SPDX-License-Identifier: GPL-2.0-only
// Run Perfetto's trace_processor, as WebAssembly, on a trace:
//
//	node trace_processor.mjs FOLDER TRACE SQL...
//
// FOLDER has trace_processor.wasm, the worker engine_bundle.node.js and the client
// engine.mjs. Each query prints its rows as a line of JSON. The worker runs in this thread, so
// the parts of a browser that it uses are simulated here.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { pathToFileURL } from 'node:url';

const [folder, trace, ...queries] = process.argv.slice(2);
const wasm = fs.readFileSync(path.join(folder, 'trace_processor.wasm'));

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, 'location', { value: { href: pathToFileURL(folder).href } });
globalThis.XMLHttpRequest = class {
	open() {}

	send() {
		this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length);
	}
};

// FOLDER has no build for 64-bit memory.
const worker = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8')
	.replace('this.useMemory64 = hasMemory64Support()', 'this.useMemory64 = false');
console.log = console.warn = () => {};
vm.runInThisContext(worker);

const channel = new MessageChannel();
self.onmessage({ data: channel.port1 });
await new Promise((resolve) => setTimeout(resolve, 100));

const { EngineBase } = await import(pathToFileURL(path.join(folder, 'engine.mjs')));
class Engine extends EngineBase {
	mode = 'WASM';
	id = 'ktau';

	rpcSendRequestBytes(data) {
		channel.port2.postMessage(data);
	}
}
const engine = new Engine();
channel.port2.onmessage = (message) => engine.onRpcResponseBytes(message.data);

const plain = (value) => typeof value === 'bigint' ? Number(value) : value;
await engine.parse(new Uint8Array(fs.readFileSync(trace)));
await engine.notifyEof();
for (const query of queries) {
	const result = await engine.query(query);
	const columns = result.columns();
	const rows = [];

	for (const row = result.iter({}); row.valid(); row.next())
		rows.push(Object.fromEntries(columns.map((name) => [name, plain(row.get(name))])));
	fs.writeFileSync(1, JSON.stringify(rows) + '\n');
}
process.exit(0);
