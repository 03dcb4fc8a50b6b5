# SPDX-License-Identifier: GPL-2.0-only
#
#	awk -f races.awk [-v others=FILE] NAMES LOG
#
# Prints the LOG of a kernel without the data races (KCSAN) that KTAU has no part in: they go
# to FILE. KTAU has one where a function of its own stands in either stack; NAMES has those
# functions, one a line, beside all whose names begin with ktau_ or __ktau_.

function tell()
{
	if (has_ours)
		printf "%s", report
	else
		printf "%s", report > others
	inside = has_ours = 0
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
		if (name in ours || name ~ /^(__)?ktau_/)
			has_ours = 1
	}
}
# The line that ends it
/=====/ { tell() }
END {
	if (inside)
		tell()
}
