# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The Test Anything Protocol for shell scripts, in the guest and on the host. A script that
# sources this reports tests with pass, fail, check, check_recording, same, skip and without, in
# subshells too, and ends with done_testing, which prints the plan. tests/tap adds up the
# plans of a case: a script or program that ends early prints none.

tap_marks=$(mktemp)
# Precedes each description, with a colon.
tap_prefix=

tap_line()
{
	printf '%s - %s\n' "$1" "${tap_prefix:+$tap_prefix: }$2"
}

# pass WHAT
pass()
{
	echo . >> "$tap_marks"
	tap_line ok "$1"
}

# fail WHAT [DETAIL...]: the details go on lines of their own
fail()
{
	echo x >> "$tap_marks"
	tap_line 'not ok' "$1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
}

# check_recording WHAT FILE...: ktau check must accept WHAT, the files of ktaud or ktau record
check_recording()
{
	tap_recording=$1
	shift
	check "ktau check accepts $tap_recording" "${build:-$B}/tools/ktau/ktau" check "$@"
}

# skip WHAT REASON
skip()
{
	echo . >> "$tap_marks"
	tap_line ok "$1 # SKIP $2"
}

# without WHAT LIBRARY: ktau is built without LIBRARY, which is a failure where tests/setup has
# installed all of them
without()
{
	if [ "${CI:-}" ]; then
		fail "$1: ktau is built without $2"
	else
		skip "$1" "ktau is built without $2"
	fi
}

# check WHAT COMMAND...: the command must succeed; otherwise the end of its output is printed, and
# its last line is part of the description, which every summary shows
check()
{
	tap_what=$1
	shift
	if "$@" > "$tap_marks.out" 2>&1; then
		pass "$tap_what"
	else
		fail "$tap_what: $(tail -n 1 "$tap_marks.out" | tr -d '#' | cut -c 1-200)" "$*" \
			"$(tail -n 20 "$tap_marks.out")"
	fi
}

# same WHAT GOT WANTED
same()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got  $2" "want $3"
	fi
}

# program COMMAND...: run a program that prints tests and a plan of its own
program()
{
	"$@" || echo "$? $*" >> "$tap_marks.ended"
}

# done_testing: print the plan. Its status is 1 if a test failed; it must be the last command.
done_testing()
{
	echo "1..$(wc -l < "$tap_marks" | tr -d ' ')"
	[ ! -e "$tap_marks.ended" ] || sed 's/^/# ended with status /' "$tap_marks.ended"
	[ ! -e "$tap_marks.ended" ] && ! grep -q x "$tap_marks"
	set -- $?
	rm -f "$tap_marks" "$tap_marks.out" "$tap_marks.ended"
	return "$1"
}
