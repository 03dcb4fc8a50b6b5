# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Functions of the tests of ktaud as a process. test_stream makes the streams; boot tests use
# a kernel's.

build=$(cd "$(dirname "$0")" && pwd)
ktaud=${build%/tests/unit/ktaud}/ktaud/ktaud
stream=$build/test_stream
tmp=$(mktemp -d)
. tests/tap.sh
pid=

# shellcheck disable=SC2317 # called by the trap
cleanup()
{
	[ -n "$pid" ] && kill -9 "$pid" 2>/dev/null
	mountpoint -q "$tmp/full" && umount "$tmp/full"
	rm -rf "$tmp"
}
trap cleanup EXIT

# fails STATUS PATTERN ARGS...: ktaud must end with that status and message.
fails()
{
	want=$1
	pattern=$2
	shift 2
	"$ktaud" "$@" >"$tmp/out" 2>"$tmp/log"
	got=$?
	check "status of ktaud $*" [ "$got" -eq "$want" ]
	check "message of ktaud $*" grep -q "$pattern" "$tmp/log"
}

# start ARGS...: run ktaud in the background, with messages to the log.
start()
{
	"$ktaud" --root "$tmp/root" -d "$tmp/data" "$@" 2>"$tmp/log" &
	pid=$!
}

# stop: end ktaud with SIGTERM, and expect status 0.
stop()
{
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	pid=
	check "ktaud exits with status 0" [ "$status" -eq 0 ]
}

# wait_for COMMAND...: wait up to a minute until the command succeeds.
wait_for()
{
	n=0
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		if [ $n -gt 1200 ]; then
			check "within a minute: $*" "$@"
			return
		fi
		sleep 0.05
	done
}

# fresh TASKS: make streams of that many tasks, and remove all files.
fresh()
{
	rm -rf "$tmp/data" "$tmp/root"
	mkdir "$tmp/data" "$tmp/root"
	"$stream" write "$tmp/root" "$1" 1
}

files()
{
	find "$tmp/data" -name '*.ktau' | sort
}

nr_files()
{
	test "$(files | wc -l)" "-$1" "$2"
}

# value NAME FILE: one number of a file.
value()
{
	"$stream" read "$2" | sed -n "s/^$1 //p"
}

is()
{
	test "$(value "$2" "$1")" "-$3" "$4"
}

# consistent FILE: complete and without findings. Reading a saved trace does not consume it, so
# slots may be repeated.
consistent()
{
	"$stream" read "$1" >"$tmp/read" || return 1
	! grep '^finding' "$tmp/read" | grep -v '^finding loss'
}

# run TEST...: run each test with fresh streams, then print the plan.
run()
{
	for test; do
		: >"$tmp/log"
		fresh 3
		"test_$test"
	done
	done_testing
}
