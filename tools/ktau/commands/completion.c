// SPDX-License-Identifier: GPL-2.0-only
/* Shell completion. */
#include <stdbool.h>
#include <string.h>

#include "pages/consumer.h"
#include "view/builtin.h"
#include "completion.h"

/* Options that every command has. */
static const struct argp_option common[] = {
	{ "help", 'h', NULL, 0, "Print a list of the options", 0 },
	{ "usage", 0, NULL, 0, "Print a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Print the version", 0 },
	{ 0 }
};

/* A command without options has NULL as its table. */
static bool is_end(const struct argp_option *o)
{
	return !o || (!o->name && !o->key && !o->doc && !o->group);
}

/* Headings and hidden options are not completed. */
static bool is_shown(const struct argp_option *o)
{
	return (o->name || o->key) && !(o->flags & (OPTION_HIDDEN | OPTION_DOC));
}

static bool has_letter(const struct argp_option *o)
{
	return o->key > ' ' && o->key < 127;
}

/* The names of the built-in views; a file can be used in the place of each. */
static const char *view_names(void)
{
	static char names[256];
	const struct view_builtin *b;
	size_t bytes = 0;

	for (b = view_builtins; b->name; b++)
		bytes += (size_t)snprintf(names + bytes, sizeof(names) - bytes, "%s%s",
					  bytes ? " " : "", b->name);
	return names;
}

/* What ktau pages merge --type accepts. */
static const char *page_types(void)
{
	static char names[512];
	const struct consumer *c;
	size_t bytes;
	unsigned int i;

	bytes = (size_t)snprintf(names, sizeof(names), "list");
	for (i = 0; (c = consumer_at(i)) && bytes < sizeof(names); i++)
		bytes += (size_t)snprintf(names + bytes, sizeof(names) - bytes, " %s", c->name);
	return names;
}

static bool is_view(const char *option)
{
	return option && !strcmp(option, "view");
}

/*
 * Completions for the argument of an option; NULL if the argument can be anything. A test compares
 * them with what the parsers of the options say.
 */
static const char *words_of(const char *name, const char *command)
{
	static const struct {
		const char *name, *command, *words;
	} known[] = {
		{ "format", "pages", "text csv json binary" },
		{ "format", "cycles", "text csv json folded" },
		{ "format", "events", "text csv json tau" },
		{ "format", "path", "text csv json dot" },
		{ "format", NULL, "text csv json" },
		{ "sort", NULL, "excl incl count name" },
		{ "mode", "path", "bounded full" },
		{ "time", "pages", "ns ticks" },
		{ "time", "flame", "on off both" },
		{ "source", NULL, "auto kernel bpf" },
		{ "naming", NULL, "dense pid ng" },
		{ "etm", NULL, "etmv3 ptm etmv4 ete pt" },
		{ "tables", NULL, "account cpu_account waits processes counters total cpus "
				  "interrupts regions losses all" },
		{ "first-store", "pages", "write drop" },
		{ "input", "pages", "auto ktau merged lackey" },
		{ "policy", "pages", "lru fifo clock opt" },
		{ "by", "top", "name pid cgroup user" },
		{ "by", "compare", "name cgroup user host" },
		{ "by", NULL, "process thread name cgroup user" },
	};
	size_t i;

	if (is_view(name))
		return view_names();
	if (name && !strcmp(name, "type") && !strcmp(command, "pages"))
		return page_types();
	for (i = 0; name && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name) &&
		    (!known[i].command || !strcmp(known[i].command, command)))
			return known[i].words;
	return NULL;
}

static void bash_options(const struct argp_option *o, FILE *out)
{
	for (; !is_end(o); o++) {
		if (!is_shown(o))
			continue;
		if (has_letter(o))
			fprintf(out, " -%c", o->key);
		if (o->name)
			fprintf(out, " --%s%s", o->name,
				o->arg && !(o->flags & OPTION_ARG_OPTIONAL) ? "=" : "");
	}
}

static void bash_words(const struct subcommand *c, FILE *out)
{
	const struct argp_option *o;
	const char *words;

	for (o = c->argp->options; !is_end(o); o++) {
		words = words_of(o->name, c->name);
		if (words)
			fprintf(out, "\t%s:--%s) words='%s'%s ;;\n", c->name, o->name, words,
				is_view(o->name) ? " files=-f" : "");
	}
}

static void print_bash(const struct subcommand *const *subcommands, size_t nr, FILE *out)
{
	size_t i;

	fputs("# bash completion for ktau, generated from its tables of options\n"
	      "_ktau()\n{\n"
	      "\tlocal cur prev words option\n\n"
	      "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tprev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W 'help",
	      out);
	for (i = 0; i < nr; i++)
		fprintf(out, " %s", subcommands[i]->name);
	fputs(" --help --usage --version' -- \"$cur\")\n\t\treturn\n\tfi\n"
	      "\t# The shell splits --by=name at the equals sign.\n"
	      "\toption=$prev\n"
	      "\t[ \"$prev\" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\t[ \"$cur\" != = ] || cur=\n"
	      "\twords= files=\n"
	      "\tcase ${COMP_WORDS[1]}:$option in\n",
	      out);
	for (i = 0; i < nr; i++)
		bash_words(subcommands[i], out);
	fputs("\tesac\n"
	      "\tif [ -n \"$words\" ]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen $files -W \"$words\" -- \"$cur\")\n"
	      "\t\treturn\n\tfi\n",
	      out);
	fprintf(out,
		"\t[ \"${COMP_WORDS[1]}:$COMP_CWORD\" != view:2 ] || words='%s'\n"
		"\tcase $cur in\n\t-*) ;;\n"
		"\t*)\n\t\tmapfile -t COMPREPLY < <(compgen -f -W \"$words\" -- \"$cur\")\n"
		"\t\tcompopt -o filenames\n\t\treturn ;;\n\tesac\n"
		"\tcase ${COMP_WORDS[1]} in\n",
		view_names());
	for (i = 0; i < nr; i++) {
		fprintf(out, "\t%s) words='", subcommands[i]->name);
		bash_options(subcommands[i]->argp->options, out);
		bash_options(common, out);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	      "\t[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
	      "}\ncomplete -F _ktau ktau\n",
	      out);
}

/*
 * Print @text inside single quotes. Brackets and colons are escaped because _arguments
 * interprets them.
 */
static void zsh_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void zsh_option(const char *spelling, const struct argp_option *o, const char *command,
		       FILE *out)
{
	bool is_long = spelling[1] == '-', optional = o->flags & OPTION_ARG_OPTIONAL;
	const char *words = words_of(o->name, command);

	fprintf(out, " \\\n\t\t\t'%s", spelling);
	if (o->arg)
		fputs(!is_long ? "+" : optional ? "=-" : "=", out);
	fputc('[', out);
	zsh_text(o->doc ? o->doc : "", out);
	fputc(']', out);
	if (o->arg) {
		fputs(optional ? "::" : ":", out);
		zsh_text(o->arg, out);
		if (words)
			fprintf(out, is_view(o->name) ? ":{compadd %s; _files}" : ":(%s)", words);
		else
			fputs(!strcmp(o->arg, "FILE") ? ":_files" : ": ", out);
	}
	fputc('\'', out);
}

static void zsh_options(const struct argp_option *o, const char *command, FILE *out)
{
	char spelling[64];

	for (; !is_end(o); o++) {
		if (!is_shown(o))
			continue;
		if (has_letter(o)) {
			snprintf(spelling, sizeof(spelling), "-%c", o->key);
			zsh_option(spelling, o, command, out);
		}
		if (o->name) {
			snprintf(spelling, sizeof(spelling), "--%s", o->name);
			zsh_option(spelling, o, command, out);
		}
	}
}

static void print_zsh(const struct subcommand *const *subcommands, size_t nr, FILE *out)
{
	size_t i;

	fputs("#compdef ktau\n# zsh completion for ktau, generated from its tables of options\n\n"
	      "local -a commands\ncommands=(\n",
	      out);
	for (i = 0; i < nr; i++) {
		fprintf(out, "\t'%s:", subcommands[i]->name);
		zsh_text(subcommands[i]->summary, out);
		fputs("'\n", out);
	}
	fputs(")\nif (( CURRENT == 2 )); then\n\t_describe command commands\nelse\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n"
	      "\tcase $command in\n",
	      out);
	for (i = 0; i < nr; i++) {
		fprintf(out, "\t%s)\n\t\t_arguments", subcommands[i]->name);
		zsh_options(subcommands[i]->argp->options, subcommands[i]->name, out);
		zsh_options(common, subcommands[i]->name, out);
		if (is_view(subcommands[i]->name))
			fprintf(out, " \\\n\t\t\t'1:view:{compadd %s; _files}'", view_names());
		fputs(" \\\n\t\t\t'*:file:_files' ;;\n", out);
	}
	fputs("\tesac\nfi\n", out);
}

int completion_print(const char *shell, const struct subcommand *const *subcommands, size_t nr,
		     FILE *out)
{
	if (!strcmp(shell, "bash"))
		print_bash(subcommands, nr, out);
	else if (!strcmp(shell, "zsh"))
		print_zsh(subcommands, nr, out);
	else
		return -1;
	return 0;
}
