/* SPDX-License-Identifier: GPL-2.0-only */
/* The words and signs of the language of views. */
#ifndef KTAU_TOOLS_VIEW_LEXER_H
#define KTAU_TOOLS_VIEW_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum lexer_token {
	TOKEN_END,  /* of the text */
	TOKEN_LINE, /* end of a line, also before the end of the text */
	TOKEN_SEMICOLON,
	TOKEN_WORD, /* letters, digits, _ : . and - */
	TOKEN_NUMBER,
	TOKEN_STRING, /* its text is without the quotes */
	TOKEN_SIGN,   /* one or two characters */
	TOKEN_BAD,    /* a character that the language does not have, or an open string */
};

/**
 * struct lexer - reads a text
 * @file: name for messages
 * @at: next character
 * @end: end of the text
 * @line: start of the current line
 * @nr_lines: its number, from 1
 * @token: the current token
 * @text: its text, of @bytes
 * @failed: a message has been printed, and the rest is not read
 */
struct lexer {
	const char *file;
	const char *at, *end, *line;
	size_t nr_lines;
	enum lexer_token token;
	const char *text;
	size_t bytes;
	bool failed;
};

/* Read the next token. */
void lexer_next(struct lexer *l);

/* Read from the start of the current token to a space, a semicolon or the end of the line. */
void lexer_name(struct lexer *l);

/* Go to the end of the line. */
void lexer_skip_line(struct lexer *l);

/* Is the current token this word or sign? lexer_take() also reads the next one if it is. */
bool lexer_is(const struct lexer *l, const char *text);
bool lexer_take(struct lexer *l, const char *text);

/* Print the first message, with file, line and column of the current token. Return: false. */
bool lexer_fail(struct lexer *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complain that something else than @expected was found. Return: false. */
bool lexer_expected(struct lexer *l, const char *expected);

#endif
