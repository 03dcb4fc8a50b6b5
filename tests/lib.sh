# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts of the tests share. Sourced with the top folder as directory.

# What is made goes here. B itself stays as it came, because make's own paths are
# made of it.
# shellcheck disable=SC2034
build=$(realpath -m "${B:-build}")

# What the kernel says when something is wrong. Every line of it fails a run.
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

# Build and run the unit tests, a line "ok - NAME" or "not ok - NAME" each. The
# arguments go to make.
unit_tests()
{
	local tests test bad=0

	make -j"${JOBS:-$(nproc)}" "$@" unit-programs || return 1
	tests=$(make -s "$@" list-unit-tests)
	[ -n "$tests" ] || return 1
	for test in $tests; do
		if "$test"; then
			echo "ok - ${test##*/}"
		else
			echo "not ok - ${test##*/}"
			bad=1
		fi
	done
	return $bad
}

# What KUnit said in the log of a kernel, a line "ok - NAME" or "not ok - NAME" each.
kunit_results()
{
	# A suite's tests are indented once; its plan stands before them
	awk '
	/^    1\.\.[0-9]+/ { sub(/^ *1\.\./, ""); plan += $0 }
	/^    (not )?ok [0-9]+/ {
		n++
		if (/# SKIP/)
			next
		bad += /^    not ok/
		text = $0
		sub(/\r$/, "", text)
		sub(/^ *(not )?ok [0-9]+ *-? */, "", text)
		print (/^    not/ ? "not ok" : "ok") " - " text
	}
	END {
		if (!plan || n != plan) {
			print "not ok - all tests ran: " n " of " plan
			bad++
		}
		exit bad > 0
	}' "$1"
}

# The hot path of kernel $1 in instructions: nothing may be worse than recorded in $2,
# except for the slack there. A line "ok - NAME" or "not ok - NAME" for each figure.
cost_gate()
{
	local kernel out=$build/check/cost-$1

	kernel=$(tests/kernel/build -k "${KERNEL:-6.1}" "$1") || return 1
	make -s test-programs || return 1
	ACCEL=tcg tests/boot/run -k "$kernel" -c 1 -t 300 -q '-icount shift=0,sleep=off' \
		-a 'mitigations=off quiet tsc_early_khz=1000000' -o "$out" tests/guest/cost ||
		return 1
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
		END { exit bad > 0 || !n }' "$out/output" "$2"
}
