// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lexer.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == ':' || c == '.' || c == '-' || (unsigned char)c >= 0x80;
}

static bool is_number(const char *text, size_t bytes)
{
	size_t i = *text == '-' && bytes > 1;

	for (; i < bytes; i++)
		if (!is_digit(text[i]))
			return false;
	return true;
}

static void skip_space(struct lexer *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == '\r'))
		l->at++;
	if (l->at < l->end && *l->at == '#')
		while (l->at < l->end && *l->at != '\n')
			l->at++;
}

static void read_string(struct lexer *l)
{
	l->text = ++l->at;
	while (l->at < l->end && *l->at != '"' && *l->at != '\n')
		l->at++;
	l->bytes = (size_t)(l->at - l->text);
	l->token = TOKEN_BAD;
	if (l->at < l->end && *l->at == '"') {
		l->token = TOKEN_STRING;
		l->at++;
	}
}

static void read_word(struct lexer *l)
{
	while (l->at < l->end && is_word(*l->at))
		l->at++;
	l->bytes = (size_t)(l->at - l->text);
	l->token = is_number(l->text, l->bytes) ? TOKEN_NUMBER : TOKEN_WORD;
}

static void read_sign(struct lexer *l)
{
	const char c = *l->at++;

	l->bytes = 1;
	l->token = strchr("/{}[]()*=!<>", c) ? TOKEN_SIGN : TOKEN_BAD;
	if (l->at < l->end && *l->at == '=' && strchr("=!<>", c)) {
		l->at++;
		l->bytes = 2;
	}
	if (c == ';')
		l->token = TOKEN_SEMICOLON;
}

void lexer_next(struct lexer *l)
{
	/* The end of a line is counted when the next one begins. */
	if (l->token == TOKEN_LINE && l->text < l->end) {
		l->line = l->at;
		l->nr_lines++;
	}
	skip_space(l);
	l->text = l->at;
	l->bytes = 0;
	if (l->at == l->end) {
		l->token = l->token == TOKEN_LINE || l->token == TOKEN_END ? TOKEN_END :
									     TOKEN_LINE;
	} else if (*l->at == '\n') {
		l->at++;
		l->token = TOKEN_LINE;
	} else if (*l->at == '"') {
		read_string(l);
	} else if (is_word(*l->at)) {
		read_word(l);
	} else {
		read_sign(l);
	}
}

void lexer_name(struct lexer *l)
{
	if (l->token == TOKEN_LINE || l->token == TOKEN_END || l->token == TOKEN_STRING)
		return;
	l->at = l->text;
	while (l->at < l->end && !strchr(" \t\r\n;", *l->at))
		l->at++;
	l->bytes = (size_t)(l->at - l->text);
	l->token = TOKEN_WORD;
}

void lexer_skip_line(struct lexer *l)
{
	while (l->token != TOKEN_LINE && l->token != TOKEN_END)
		lexer_next(l);
}

bool lexer_is(const struct lexer *l, const char *text)
{
	return (l->token == TOKEN_WORD || l->token == TOKEN_SIGN) && strlen(text) == l->bytes &&
	       !strncmp(l->text, text, l->bytes);
}

bool lexer_take(struct lexer *l, const char *text)
{
	if (!lexer_is(l, text))
		return false;
	lexer_next(l);
	return true;
}

bool lexer_fail(struct lexer *l, const char *format, ...)
{
	char *text;
	va_list arguments;

	if (l->failed)
		return false;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	complain("%s:%zu:%zu: %s", l->file, l->nr_lines, (size_t)(l->text - l->line) + 1,
		 text ? text : "out of memory");
	free(text);
	l->failed = true;
	return false;
}

bool lexer_expected(struct lexer *l, const char *expected)
{
	if (l->token == TOKEN_LINE || l->token == TOKEN_END)
		return lexer_fail(l, "expected %s, not the end of the line", expected);
	if (l->token == TOKEN_BAD && l->bytes && l->text > l->line && l->text[-1] == '"')
		return lexer_fail(l, "the string has no end");
	return lexer_fail(l, "expected %s, not '%.*s'", expected,
			  (int)(l->bytes < 60 ? l->bytes : 60), l->text);
}
