// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page around the data of an HTML report: the files of html/, as they are. The
 * assembler reads them, so it works with every compiler and machine.
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
