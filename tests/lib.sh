# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions of the test scripts. They source this file from the top folder.

# The folder of everything that is built. B itself is not changed, because make's own
# paths begin with it.
# shellcheck disable=SC2034
build=$(realpath -m "${B:-build}")

# Complaints in a kernel's log. A matching line fails a run.
# shellcheck disable=SC2034
complaints='(WARNING|BUG|UBSAN|KASAN|KCSAN|KMSAN|KFENCE): |\bOops\b|Kernel panic|'\
'Call Trace:|rcu: INFO|INFO: (task|rcu|possible|trying)|(possible|inconsistent) .*lock|'\
'suspicious RCU|unreferenced object|soft lockup|hung task|INTERNAL ERROR|'\
'ktau: internal error|kmemleak: [0-9]+ new suspected'

say()
{
	printf '  %s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# 75 -> 1:15
minutes()
{
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# build_step COMMAND...: run it; its time counts as build time, not as test time.
build_step()
{
	local start=$EPOCHREALTIME status=0

	"$@" || status=$?
	[ -z "${TAP_BUILD_TIME:-}" ] ||
		awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >> "$TAP_BUILD_TIME"
	return $status
}

# build_kernel ARGUMENT...: run tests/kernel/build and print the path of the kernel.
build_kernel()
{
	build_step tests/kernel/build -k "${KERNEL:-6.1}" "$@"
}

# built_groups CONFIG: the groups of a kernel with this configuration, in one word.
built_groups()
{
	local symbol name

	sed -n 's/^KTAU_\(TASK_\)*GROUP(\([A-Z0-9_]*\), \([a-z0-9_]*\),.*/\2 \3/p' \
		kernel-ext/include/uapi/linux/ktau_groups.h |
	while read -r symbol name; do
		! grep -qx "CONFIG_KTAU_$symbol=y" "$1" || echo "$name"
	done | paste -s -d ,
}

# Build all programs and those that run in guests.
build_programs()
{
	build_step make -s -j"${JOBS:-$(nproc)}" test-programs
}

# Build and run the unit tests. The arguments go to make.
unit_tests()
{
	local test tests begin ended=

	build_step make -s -j"${JOBS:-$(nproc)}" "$@" unit-programs || return 1
	tests=$(make -s "$@" list-unit-tests)
	[ -n "$tests" ] || return 1
	for test in $tests; do
		echo "# ${test##*/}"
		begin=$SECONDS
		"$test" || ended+=" ${test##*/} with status $?;"
		echo "# ${test##*/} took $((SECONDS - begin)) s"
	done
	[ -z "$ended" ] || echo "# ended:$ended"
	[ -z "$ended" ]
}

# kunit_results VERSION LOG: print KUnit's results in the log of a kernel as TAP, with the
# parser of that kernel's source.
kunit_results()
{
	local parser=$build/linux-$1/tools/testing/kunit/kunit.py

	tr -d '\r' < "$2" > "$2.plain"
	python3 -B "$parser" parse --json="$2.json" "$2.plain" > "$2.parsed" || :
	python3 -B tests/judge/kunit.py "$2.json" "$2.plain"
}

# same_text FOLDER: the files there give the same text here as in the guest that wrote them, where
# the folder is /share. The guest's text is FOLDER/text.
same_text()
{
	local file

	for file in "$1"/*.ktau; do
		"$build/tools/ktau/ktau" report "$file"
		"$build/tools/ktau/ktau" dump "$file"
	done | sed "s|$1/|/share/|" | diff "$1/text" -
}

# compare_figures OUTPUT FIGURES: none may exceed its recorded figure by more than the slack in the
# same line.
compare_figures()
{
	awk -F '\t' '
		FILENAME == ARGV[1] { got[$2] = $3; next }
		/^#/ { next }
		{
			worse = !($1 in got) || got[$1] > $2 + $3
			printf "%s - %s: %s instructions, %s recorded\n",
				worse ? "not ok" : "ok", $1, ($1 in got) ? got[$1] : "no", $2
			bad += worse
			n++
		}
		END { print "1.." n; exit bad > 0 || !n }' "$1" "$2"
}

# cost_gate KERNEL FIGURES: count the instructions of the hot path.
cost_gate()
{
	local kernel samples out=$build/check/cost-$1

	kernel=$(build_kernel "$1") || return 1
	samples=$(build_step tests/kernel/samples "$1") || return 1
	build_programs || return 1
	tests/boot/run -k "$kernel" -e -t 300 -a 'mitigations=off quiet' -o "$out" tests/guest/cost \
		"$samples/ktau_empty.ko" || return 1
	compare_figures "$out/output" "$2"
}

# stock_cost_gate VERSION FIGURES: the same for the BPF programs on a stock kernel.
stock_cost_gate()
{
	local out=$build/torture/stock-cost-$1

	tests/boot/stock -k "$1" -e -t 400 -o "$out" \
		-p "$build/tests/progs/exact/cost $build/ktaud/ktaud $build/tools/ktau/ktau" \
		tests/guest/stock-cost || return 1
	compare_figures "$out/output" "$2"
}

# progress NAME LOG [STEPS]: copy kbuild's output to LOG and print its progress in STEPS: on a
# terminal one line that is rewritten, otherwise a line every half minute. LOG.steps then has the
# number of steps.
progress()
{
	local tty=0

	[ ! -t 2 ] || tty=1
	awk -v tty=$tty -v total="${3:-0}" -v name="$1" -v file="$2" '
		function line(  s, t, p) {
			t = systime() - start
			p = total ? int(100 * n / total) : 0
			if (p > 99)
				p = 99
			s = total ? sprintf("%3d%%", p) : sprintf("%d steps", n)
			return sprintf("  kernel %s: %s  %d:%02d", name, s, t / 60, t % 60)
		}
		BEGIN { start = last = systime() }
		{ print > file; fflush(file) }
		/^  [A-Z]/ {
			n++
			now = systime()
			if (now - last < (tty ? 1 : 30))
				next
			last = now
			printf((tty ? "\r%s " : "%s\n"), line()) > "/dev/stderr"
			fflush("/dev/stderr")
		}
		END {
			if (tty && last != start)
				printf "\n" > "/dev/stderr"
			print n > (file ".steps")
		}'
}
