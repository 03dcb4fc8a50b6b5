# SPDX-License-Identifier: GPL-2.0-only
#
#	awk -f races.awk [-v others=FILE] NAMES LOG
#
# Print the LOG of a kernel without the data races (KCSAN) that do not involve KTAU; those go
# to FILE. A race involves KTAU if one of its two stacks contains a function of KTAU. Functions
# that an interrupt or exception interrupted do not count, because they do not take part in the
# access. Neither do the callers of get_task_exe_file() if it makes the access itself: it tests a
# flag of another task, without a mark for KCSAN, while that task may set other flags. Reading
# /proc/PID/exe does the same. The same applies to __module_address(), by which stack traces find
# the module of a function: it looks at the states of modules. Nor do the callers of flush_tlb_*()
# count, which looks at the CPUs that use an address space while they change, and those of
# ktau_pte_*(), if the access is marked: a page fault reads its PTE without a mark before it locks
# it, and compares it afterwards. NAMES lists KTAU's functions, one per line, besides those whose
# names begin with ktau_ or __ktau_.

function report_end()
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
	if (inside)	# the previous report was truncated
		report_end()
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
		if (is_access && (name == "get_task_exe_file" || name == "__module_address"))
			hit = 1
		if (name ~ /^flush_tlb_/ || (is_access && is_marked && name ~ /^ktau_pte_/))
			hit = 1
		is_access = 0
		if (!hit && (name in ours || name ~ /^(__)?ktau_/))
			has_ours = 1
		if (name ~ /^asm_/)
			hit = 1
	} else if (/ by (task|interrupt)/) {
		hit = 0
		is_access = 1	# the next line is the first of a stack
		is_marked = / \(marked\) /
	}
}
# The last line of a report
/=====/ { report_end() }
END {
	if (inside)
		report_end()
}
