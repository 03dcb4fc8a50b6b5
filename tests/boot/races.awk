# SPDX-License-Identifier: GPL-2.0-only
#
#	awk -f races.awk [-v others=FILE] NAMES LOG
#
# Prints the LOG of a kernel without the data races (KCSAN) that KTAU has no part in: they go
# to FILE. KTAU has one where a function of its own stands in either stack, above what an
# interrupt or exception came to: that has no part in what it does. NAMES has those
# functions, one a line, beside all whose names begin with ktau_ or __ktau_.

function tell()
{
	if (has_ours)
		printf "%s", report
	else
		printf "%s", report > others
	inside = has_ours = hit = 0
}

BEGIN {
	if (!others)
		others = "/dev/null"
}
FILENAME == ARGV[1] {
	ours[$1] = 1
	next
}
/BUG: KCSAN: / {
	if (inside)	# the one before was cut off
		tell()
	inside = 1
	report = ""
}
!inside {
	print
	next
}
{
	report = report $0 "\n"
	# " function+0x12/0x34": a line of a stack
	if (match($0, / [A-Za-z_][A-Za-z0-9_.]*\+0x[0-9a-f]+\/0x[0-9a-f]+/)) {
		name = substr($0, RSTART + 1, RLENGTH - 1)
		sub(/\+.*/, "", name)
		if (!hit && (name in ours || name ~ /^(__)?ktau_/))
			has_ours = 1
		if (name ~ /^asm_/)
			hit = 1
	} else if (/ by (task|interrupt)/) {
		hit = 0	# the head of a stack
	}
}
# The line that ends it
/=====/ { tell() }
END {
	if (inside)
		tell()
}
