// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed parts of an HTML report: the files in html/, included unchanged. The assembler
 * includes them, which works with every compiler and architecture.
 */
#include "html_parts.h"

#define PART(name, file)				\
	__asm__(".pushsection .rodata\n"		\
		".global " #name "\n"			\
		#name ":\n"				\
		".incbin \"tools/ktau/html/" file "\"\n"	\
		".byte 0\n"				\
		".popsection\n")

PART(html_head, "head.html");
PART(html_style, "style.css");
PART(html_body, "body.html");
PART(html_program, "program.js");
