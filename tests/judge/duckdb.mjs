// SPDX-License-Identifier: GPL-2.0-only
// Run SQL with DuckDB:
//
//	node duckdb.mjs FOLDER < QUERIES
//
// FOLDER has node_modules/@duckdb. QUERIES is a JSON array of texts, each with one or more
// statements; a line of JSON per text has the rows of its last statement.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(path.join(path.resolve(process.argv[2]), 'x.js'));
const { DuckDBInstance } = require('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();

for (const text of JSON.parse(fs.readFileSync(0, 'utf8'))) {
	const statements = await connection.extractStatements(text);
	let rows = [];

	for (let i = 0; i < statements.count; i++) {
		const prepared = await statements.prepare(i);
		const reader = await prepared.runAndReadAll();

		rows = reader.getRowObjectsJson();
	}
	console.log(JSON.stringify(rows));
}
