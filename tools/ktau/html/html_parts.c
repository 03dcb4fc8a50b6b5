// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed parts of an HTML report: the files in html/page/, included unchanged. The assembler
 * includes them, which works with every compiler and architecture.
 */
#include "html_parts.h"

#define FROM(file) ".incbin \"tools/ktau/html/page/" file "\"\n"

#define PART(name, files)				\
	__asm__(".pushsection .rodata\n"		\
		".global " #name "\n"			\
		#name ":\n"				\
		files					\
		".byte 0\n"				\
		".popsection\n")

PART(html_head, FROM("head.html"));
PART(html_style, FROM("style.css"));
PART(html_body, FROM("body.html"));
PART(html_program, FROM("data.js") FROM("display.js") FROM("processes.js") FROM("flame.js")
	FROM("time.js") FROM("cpus.js") FROM("losses.js") FROM("delays.js") FROM("start.js"));
