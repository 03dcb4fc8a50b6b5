// SPDX-License-Identifier: GPL-2.0-only
/* ktau dump: print every record of a file as text. */
#include <argp.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/dump.h"
#include "print/pager.h"
#include "subcommand.h"
#include "lib/symbolize.h"

static const struct argp_option argp_options[] = {
	MAP_OPTION(0),
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return shared_option(key, arg, state, state->input);
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...",
	"Print every record of ktaud's files and of saved streams as text. FILE - is standard "
	"input.",
	NULL, NULL, NULL
};

static int dump_file(const char *path, struct ktau_symtab *symtab)
{
	struct ktau_reader *reader;
	int err = CLI_FAILED;

	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	if (ktau_reader_open_file(reader, path))
		complain("%s", ktau_reader_error(reader));
	else
		err = dump_reader(reader, path, symtab, stdout);
	ktau_reader_destroy(reader);
	return err;
}

static int dump_main(int argc, char **argv)
{
	struct ktau_symtab *symtab = NULL;
	struct shared_options o = { .wanted = FILES_REQUIRED, .folders = true };
	int err = CLI_DONE, i;
	uint64_t stext = 0;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_start();
	if (o.map && symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	if (symtab)
		stext = symbolize_map_stext(symtab);
	for (i = 0; i < o.nr_files; i++) {
		if (symtab)
			ktau_symtab_relocate(symtab, stext);
		err |= dump_file(o.files[i], symtab);
	}
	ktau_symtab_destroy(symtab);
	return err;
}

const struct subcommand subcommand_dump = {
	"dump", dump_main, "print every record of a recording as text",
	&parser, SUBCOMMAND_CONVERT
};
