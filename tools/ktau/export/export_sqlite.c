// SPDX-License-Identifier: GPL-2.0-only
/*
 * SQLite: a database with the tables of export_rows.h. SQLite has no unsigned 64-bit numbers, so
 * numbers above 2^63 - 1 are stored as the negative numbers with the same bits.
 */
#include <errno.h>

#include "export_rows.h"

#ifdef KTAU_HAVE_SQLITE
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"

/* The database, and an INSERT statement for each table. */
struct database {
	sqlite3 *db;
	sqlite3_stmt *insert[ROW_NR_TABLES];
};

static int failed(struct export_run *x)
{
	struct database *d = x->data;

	complain("cannot write %s: %s", output_name(x->output), sqlite3_errmsg(d->db));
	return -EIO;
}

static int run(struct export_run *x, const char *sql)
{
	struct database *d = x->data;

	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) ? failed(x) : 0;
}

static int create_table(struct export_run *x, int table)
{
	static const char *const types[] = {
		[ROW_TEXT] = "TEXT", [ROW_INT] = "INTEGER", [ROW_LONG] = "INTEGER",
		[ROW_ULONG] = "INTEGER", [ROW_HEX] = "TEXT",
	};
	const struct row_table *t = &row_tables[table];
	char create[1024], insert[256], *at = create, *to = insert;
	struct database *d = x->data;
	size_t c;

	at += sprintf(at, "CREATE TABLE %s (", t->name);
	to += sprintf(to, "INSERT INTO %s VALUES (", t->name);
	for (c = 0; c < t->nr_columns; c++) {
		at += sprintf(at, "%s%s %s", c ? ", " : "", t->columns[c].name,
			      types[t->columns[c].type]);
		to += sprintf(to, "%s?", c ? "," : "");
	}
	strcpy(at, ")");
	strcpy(to, ")");
	if (run(x, create))
		return -EIO;
	return sqlite3_prepare_v2(d->db, insert, -1, &d->insert[table], NULL) ? failed(x) : 0;
}

/*
 * The database need not survive a crash, because incomplete output is removed, and needs no lock,
 * because nobody else opens the output.
 */
static int begin(struct export_run *x)
{
	struct database *d = cli_alloc(NULL, 1, sizeof(*d));
	int err, i;

	*d = (struct database){ .db = NULL };
	x->data = d;
	if (sqlite3_open_v2(output_path(x->output), &d->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix-none"))
		return failed(x);
	err = run(x, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
	for (i = 0; !err && i < ROW_NR_TABLES; i++)
		err = create_table(x, i);
	return err;
}

/* Length of @text if print_escaped() prints it as it is, and that is plain to see; 0 if not. */
static size_t plain_bytes(const char *text)
{
	size_t n;

	for (n = 0; text[n]; n++)
		if (text[n] < ' ' || text[n] > '~' || text[n] == '\\')
			return 0;
	return n;
}

/*
 * SQLite accepts only UTF-8, so text is escaped as by print_escaped(). Text of cells is there until
 * the row has been written.
 */
static void bind_text(sqlite3_stmt *insert, int column, const char *text)
{
	char escaped[ESCAPED_BYTES], buffer[1024];
	size_t nr = plain_bytes(text), bytes;

	if (nr && nr < sizeof(buffer)) {
		sqlite3_bind_text(insert, column, text, (int)nr, SQLITE_STATIC);
		return;
	}
	nr = 0;
	while (*text) {
		text += escape_one(text, escaped);
		bytes = strlen(escaped);
		if (nr + bytes >= sizeof(buffer))
			break;
		memcpy(buffer + nr, escaped, bytes);
		nr += bytes;
	}
	sqlite3_bind_text(insert, column, buffer, (int)nr, SQLITE_TRANSIENT);
}

static void bind(sqlite3_stmt *insert, int column, const struct row_cell *cell,
		 enum row_type type)
{
	char hex[24];

	if (!cell->known) {
		sqlite3_bind_null(insert, column);
	} else if (type == ROW_TEXT) {
		bind_text(insert, column, cell->text);
	} else if (type == ROW_HEX) {
		snprintf(hex, sizeof(hex), "%#" PRIx64, (uint64_t)cell->number);
		bind_text(insert, column, hex);
	} else {
		sqlite3_bind_int64(insert, column, cell->number);
	}
}

static int write_row(struct export_run *x, int table, const struct row_cell *cells)
{
	const struct row_table *t = &row_tables[table];
	struct database *d = x->data;
	sqlite3_stmt *insert = d->insert[table];
	size_t c;

	for (c = 0; c < t->nr_columns; c++)
		bind(insert, (int)c + 1, &cells[c], t->columns[c].type);
	if (sqlite3_step(insert) != SQLITE_DONE)
		return failed(x);
	sqlite3_reset(insert);
	return 0;
}

/* For joins by task, sums by routine, and parts of the time line; faster than while rows come. */
static int create_indexes(struct export_run *x)
{
	return run(x, "CREATE INDEX tasks_task ON tasks (host, serial);"
		      "CREATE INDEX routines_task ON routines (host, serial);"
		      "CREATE INDEX routines_routine ON routines (routine);"
		      "CREATE INDEX counters_task ON counters (host, serial);"
		      "CREATE INDEX regions_task ON regions (host, serial);"
		      "CREATE INDEX frames_task ON frames (host, serial, start_ns);"
		      "CREATE INDEX frames_routine ON frames (routine, excl_ns);"
		      "CREATE INDEX frames_start ON frames (host, start_ns);"
		      "CREATE INDEX points_task ON points (host, serial, ns);"
		      "CREATE INDEX points_ns ON points (host, ns);"
		      "CREATE INDEX running_task ON running (host, serial, start_ns);"
		      "CREATE INDEX running_start ON running (host, start_ns);"
		      "CREATE INDEX losses_task ON losses (host, serial, start_ns)");
}

static int end(struct export_run *x)
{
	struct database *d = x->data;
	int err, i;

	for (i = 0; i < ROW_NR_TABLES; i++)
		sqlite3_finalize(d->insert[i]);
	err = sqlite3_get_autocommit(d->db) ? 0 : create_indexes(x);
	if (!err && !sqlite3_get_autocommit(d->db))
		err = run(x, "COMMIT");
	if (sqlite3_close(d->db) && !err)
		err = failed(x);
	free(d);
	return err;
}

EXPORT_FORMAT(sqlite) = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.opens = "sqlite3 and everything that reads its files",
	.named = true,
	.hosts = true,
	.begin = begin,
	.start_host = rows_start_host,
	.event = rows_event,
	.task = rows_task,
	.profile = rows_profile,
	.end_host = rows_end_host,
	.row = write_row,
	.end = end,
};
#else
EXPORT_FORMAT(sqlite) = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.opens = "sqlite3 and everything that reads its files",
	.package = "libsqlite3-dev",
};
#endif
