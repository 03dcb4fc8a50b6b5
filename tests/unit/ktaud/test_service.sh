#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktaud as a service: start, single instance, stop.
set -u
# shellcheck source=tests/unit/ktaud/test_lib.sh
. "$(dirname "$0")/test_lib.sh"

test_pidfile()
{
	fresh 3
	start -s "pidfile=$tmp/pid"
	wait_for nr_files eq 1
	check "the pid file has ktaud's pid" [ "$(cat "$tmp/pid")" = $pid ]
	fails 1 "already running as process $pid " --root "$tmp/root" -d "$tmp/data" \
		-s "pidfile=$tmp/pid"
	check "the second instance does not remove it" [ -s "$tmp/pid" ]
	stop
	check "the pid file is removed at the end" [ ! -e "$tmp/pid" ]
	fails 1 "cannot open pid file" --root "$tmp/root" -d "$tmp/data" \
		-s "pidfile=$tmp/none/pid"
}

test_background()
{
	fresh 3
	check "ktaud goes into the background" \
		"$ktaud" --root "$tmp/root" -d "$tmp/data" -D -t 0.1 \
		-s "pidfile=$tmp/pid"
	check "it has read once on return" is "$(files)" streams ge 1
	pid=$(cat "$tmp/pid")
	check "it runs" kill -0 "$pid"
	kill -TERM "$pid"
	wait_for [ ! -e "$tmp/pid" ]
	pid=
	check "the file is consistent" consistent "$(files)"
	fails 1 "none/profile" --root "$tmp/none" -d "$tmp/data" -D
}

# Without standard descriptors: none of ktaud's files may use their numbers.
test_closed()
{
	fresh 3
	"$ktaud" --root "$tmp/root" -d "$tmp/data" -t 0.1 <&- >&- 2>&- &
	pid=$!
	wait_for nr_files eq 1
	wait_for is "$(files)" streams ge 3
	check "files do not use the numbers of standard descriptors" \
		[ -z "$(readlink /proc/$pid/fd/[012] | grep -v '^/dev/null$')" ]
	stop
	check "the file is consistent" consistent "$(files)"

	fresh 3
	timeout 10 "$ktaud" --root "$tmp/root" -d "$tmp/data" -D -t 0.1 -s "pidfile=$tmp/pid" \
		<&- >&- 2>&-
	check "ktaud goes into the background" [ $? -eq 0 ]
	pid=$(cat "$tmp/pid")
	wait_for is "$(files)" streams ge 3
	kill -TERM "$pid"
	wait_for [ ! -e "$tmp/pid" ]
	[ -e "$tmp/pid" ] || pid=
	check "the file is consistent" consistent "$(files)"
}

# rc WORD: run the init script with this machine's shell.
rc()
{
	KTAUD=$ktaud KTAUD_CONF=$tmp/conf KTAUD_PIDFILE=$tmp/pid "$build/test_rc" "$1" \
		>"$tmp/out" 2>&1
}

rc_says()
{
	rc "$1"
	got=$?
	check "rc $1: status" [ "$got" -eq "$2" ]
	check "rc $1: $3" grep -q "^$3" "$tmp/out"
}

test_rc()
{
	printf 'sample_period 0.1\noutput_dir %s/data\n' "$tmp" >"$tmp/conf"
	# A wrapper adds --root, because there is no kernel to read.
	printf '#!/bin/sh\nexec "%s" --root "%s" "$@"\n' "$ktaud" "$tmp/root" >"$tmp/ktaud"
	chmod 755 "$tmp/ktaud"
	ktaud=$tmp/ktaud
	rc_says status 3 "ktaud is not running"
	check "rc stop without a ktaud" rc stop
	check "rc start" rc start
	pid=$(cat "$tmp/pid")
	rc_says status 0 "ktaud is running as process $pid"
	rc_says start 0 "ktaud is running as process $pid"
	check "one file" nr_files eq 1
	check "rc reload" rc reload
	wait_for nr_files eq 2
	check "rc restart" rc restart
	check "another process" [ "$(cat "$tmp/pid")" != "$pid" ]
	check "rc stop" rc stop
	check "the pid file is removed" [ ! -e "$tmp/pid" ]

	# Stale numbers after a crash, some of them of other processes.
	sleep 60 &
	pid=$!
	for number in $pid 4194305 -1 self x; do
		echo "$number" >"$tmp/pid"
		rc_says status 3 "ktaud is not running"
		check "rc stop leaves process $number alone" rc stop
	done
	check "the other process still runs" kill -0 $pid
	echo $pid >"$tmp/pid"
	check "rc start despite a stale pid file" rc start
	check "ktaud keeps running" rc status
	check "rc stop" rc stop
	kill $pid

	# The number of another ktaud, with another pid file.
	KTAUD=$ktaud KTAUD_CONF=$tmp/conf KTAUD_PIDFILE=$tmp/pid2 "$build/test_rc" start
	pid=$(cat "$tmp/pid2")
	echo "$pid" >"$tmp/pid"
	rc_says status 3 "ktaud is not running"
	check "rc stop leaves another ktaud alone" rc stop
	check "the other ktaud still runs" kill -0 "$pid"
	kill "$pid"
	wait_for [ ! -e "$tmp/pid2" ]
	rm "$tmp/pid"
	pid=
	ktaud=${build%/tests/unit/ktaud}/ktaud/ktaud
}

test_unit()
{
	if ! command -v systemd-analyze >/dev/null; then
		skip "the units" "there is no systemd-analyze"
		return
	fi
	for unit in ktaud ktaud-ship ktau-land; do
		folder=ktaud
		[ -e ktaud/$unit.service.in ] || folder=ktaud/ship
		[ -e "${build%/tests/unit/ktaud}/$folder/$unit" ] || continue
		sed -e "s|@SBINDIR@|$(realpath "${build%/tests/unit/ktaud}")/$folder|" -e 's|@SYSCONFDIR@|/etc|' \
			$folder/$unit.service.in >"$tmp/$unit.service"
	done
	systemd-analyze verify --man=no "$tmp"/kta*.service >"$tmp/log" 2>&1
	check "systemd finds nothing wrong with the units" sh -c "! grep kta $tmp/log"
	check "they need no program that a small Debian lacks" sh -c "! grep -E '^Exec.*/kill' ktaud/*.service.in ktaud/*/*.service.in"
}

test_help()
{
	for option in --help --version --usage; do
		check "ktaud $option" sh -c "'$ktaud' $option | grep -q ktaud"
		"$ktaud" $option >/dev/full 2>"$tmp/log"
		check "ktaud $option on a full disk: status" [ $? -eq 1 ]
		check "ktaud $option on a full disk: message" \
			grep -q "^ktaud: cannot write the output: No space left" "$tmp/log"
	done
	"$ktaud" --help >&- 2>"$tmp/log"
	check "ktaud --help without an output: status" [ $? -eq 1 ]
}

run pidfile background closed rc unit help
