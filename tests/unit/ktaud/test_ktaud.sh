#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktaud as a process: files, signals, configuration, full disks, kill -9.
set -u
# shellcheck source=tests/unit/ktaud/test_lib.sh
. "$(dirname "$0")/test_lib.sh"
ktau=${build%/tests/unit/ktaud}/tools/ktau/ktau

test_config()
{
	printf 'mode all\nbad key\n' >"$tmp/conf"
	fails 2 "^ktaud: $tmp/conf:2: unknown key 'bad'" -f "$tmp/conf"
	printf 'mode pid\n' >"$tmp/conf"
	fails 2 "^ktaud: $tmp/conf: mode is pid, but no pid" -f "$tmp/conf"
	fails 1 "^ktaud: cannot read $tmp/none: No such file" -f "$tmp/none"
	fails 1 "^ktaud: cannot read $tmp: Is a directory" -f "$tmp"
	fails 2 "command line: 'x' is not a number" -t x
	fails 2 "command line: unknown key 'foo'" -s foo=1
	fails 2 "command line: foo\|unknown key" -s foo
	fails 2 "unrecognized option" --nonsense
	escape=$(printf '\033')
	printf 'mode %s[2Jx\n' "$escape" >"$tmp/conf"
	fails 2 "'\\\\033\\[2Jx' is not one of" -f "$tmp/conf"
	check "the message has no escape sequence" sh -c "! grep -q '$escape' '$tmp/log'"
	printf 'mode = all\n' >"$tmp/conf"
	fails 0 "is valid" -f "$tmp/conf" --check-config
}

test_places()
{
	fails 1 "cannot create directory $tmp/a/b: No such file" --root "$tmp/root" -d "$tmp/a/b"
	: >"$tmp/file"
	fails 1 "cannot use $tmp/file: Not a directory" --root "$tmp/root" -d "$tmp/file"
	# A directory in which an ordinary user cannot write; it can read the others.
	chmod 755 "$tmp" "$tmp/root"
	chmod -R a+rX "$tmp/root"
	mkdir "$tmp/closed"
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$ktaud" --root "$tmp/root" -d "$tmp/closed" -1 2>"$tmp/log"
		check "status for a directory that is not writable" [ $? -eq 1 ]
		check "the message names the file" \
			grep -q "^ktaud: cannot create $tmp/closed/.*: Permission denied" "$tmp/log"
		check "no file is left" [ -z "$(ls "$tmp/closed")" ]
	fi
	fails 1 "$tmp/none/profile" --root "$tmp/none" -d "$tmp/data" -1
	if [ ! -e /proc/ktau ]; then
		fails 1 "this kernel has no KTAU.*boot a kernel with CONFIG_KTAU.*)" \
			--source=kernel -d "$tmp/data"
	fi
	fresh 3
	rm "$tmp/root/trace"
	mkfifo "$tmp/root/trace"
	fails 1 "$tmp/root/trace: not a regular file" --root "$tmp/root" -d "$tmp/data" -1 -i both
	fresh 3
	# The boot id is in bytes 168 to 183 of the STREAM record.
	printf 'another boot' | dd of="$tmp/root/profile" bs=1 seek=168 conv=notrunc 2>/dev/null
	fails 1 "cannot read $tmp/root/profile: a stream of another boot" \
		--root "$tmp/root" -d "$tmp/data" -1
	check "that is no lack of space" [ "$(grep -c 'waiting for space' "$tmp/log")" -eq 0 ]
	fresh 3
	fails 0 "1 periods" --root "$tmp/root" -d "$tmp/data/new" -1
	check "the directory is created" [ -d "$tmp/data/new" ]
}

test_period()
{
	fresh 3
	began=$(date +%s%3N)
	start -t 0.05 -i both
	for step in 2 3 4 5; do
		sleep 0.2
		"$stream" write "$tmp/root" 3 $step
	done
	sleep 0.2
	stop
	ended=$(date +%s%3N)
	check "one file" nr_files eq 1
	file=$(files)
	check "the file is consistent" consistent "$file"
	check "streams of periods of 50 ms" is "$file" streams ge 24
	# Two streams a period, and those at the end
	check "not more streams than that" is "$file" streams le $(((ended - began) / 25 + 4))
	check "every stream has its end" is "$file" ends eq "$(value streams "$file")"
	check "it has differences" is "$file" diffs ge 30
	check "it has traces" is "$file" traces ge 3
	check "it has the names of all events" is "$file" events eq 40
	check "the differences add up" is "$file" count ge 150
	check "it has the command line" [ -n "$(value command "$file")" ]
	check "its mode is 640" [ "$(stat -c %a "$file")" = 640 ]

	fresh 3
	start -t 0.05 -s record=cumulative -s compress=no
	sleep 0.4
	stop
	file=$(files)
	check "the file is consistent" consistent "$file"
	check "record=cumulative: no differences" is "$file" diffs eq 0
	check "record=cumulative: profiles" is "$file" profiles ge 16
}

test_choice()
{
	fresh 20
	fails 0 "1 periods" --root "$tmp/root" -d "$tmp/data" -1 -n 'task3' -n 'x*'
	check "two processes selected by name" is "$(files)" profiles eq 2
	fresh 20
	fails 0 "1 periods" --root "$tmp/root" -d "$tmp/data" -1 -p 10005 -p 10007
	check "two processes selected by pid" is "$(files)" profiles eq 2
	check "the file is consistent" consistent "$(files)"
}

test_signals()
{
	fresh 3
	printf 'sample_period 60\noutput_dir %s/data\n' "$tmp" >"$tmp/conf"
	# A shell starts background commands with SIGINT ignored.
	env --default-signal=INT "$ktaud" --root "$tmp/root" -f "$tmp/conf" 2>"$tmp/log" &
	pid=$!
	wait_for nr_files eq 1
	first=$(files)
	wait_for is "$first" streams eq 1
	kill -USR1 $pid
	wait_for is "$first" streams eq 2

	echo "smaple_period 1" >>"$tmp/conf"
	kill -HUP $pid
	wait_for grep -q "conf:3: unknown key 'smaple_period'" "$tmp/log"
	wait_for grep -q "keeping the old configuration" "$tmp/log"
	check "no new file" nr_files eq 1

	printf 'sample_period 0.1\noutput_dir %s/none/x\n' "$tmp" >"$tmp/conf"
	kill -HUP $pid
	wait_for grep -q "cannot create directory" "$tmp/log"
	check "ktaud keeps running" kill -0 $pid

	printf 'sample_period 0.1\noutput_dir %s/data\n' "$tmp" >"$tmp/conf"
	kill -HUP $pid
	wait_for nr_files eq 2
	second=$(files | tail -1)
	wait_for is "$second" streams ge 3
	check "the old file is consistent" consistent "$first"
	kill -INT $pid
	wait $pid
	check "SIGINT ends ktaud with status 0" [ $? -eq 0 ]
	pid=
	check "the file is consistent" consistent "$second"
}

ended()
{
	! kill -0 "$pid" 2>/dev/null || [ "$(ps -o stat= -p "$pid" | cut -c1)" = Z ]
}

# A stream that is replaced by a FIFO without a writer does not hold ktaud.
# What is ignored at the start, as under nohup(1), stays ignored.
test_ignored_signals()
{
	fresh 3
	env --ignore-signal=HUP --ignore-signal=INT "$ktaud" --root "$tmp/root" -t 0.1 \
		-d "$tmp/data" 2>"$tmp/log" &
	pid=$!
	wait_for nr_files eq 1
	kill -HUP $pid
	kill -INT $pid
	nr=$(value streams "$(files)")
	wait_for is "$(files)" streams ge $((nr + 3))
	check "ktaud goes on after ignored signals" kill -0 $pid
	stop

	# To a daemon with a configuration file, SIGHUP is a request.
	printf 'sample_period 60\noutput_dir %s/data\n' "$tmp" >"$tmp/conf"
	env --ignore-signal=HUP "$ktaud" --root "$tmp/root" -f "$tmp/conf" 2>"$tmp/log" &
	pid=$!
	wait_for nr_files eq 2
	kill -HUP $pid
	wait_for grep -q "now writing" "$tmp/log"
	stop
}

test_fifo()
{
	for name in profile trace; do
		fresh 3
		start -t 0.05 -i both
		wait_for nr_files eq 1
		wait_for is "$(files)" streams ge 2
		mkfifo "$tmp/root/fifo"
		mv "$tmp/root/fifo" "$tmp/root/$name"
		wait_for grep -q "cannot read $tmp/root/$name: not a regular file" "$tmp/log"
		sleep 0.3
		same "$name: the message is printed once" \
			"$(grep -c 'not a regular file' "$tmp/log")" 1
		kill -TERM "$pid"
		wait_for ended
		check "$name: SIGTERM ends ktaud" ended
		kill -KILL "$pid" 2>/dev/null
		wait "$pid"
		same "$name: with the status of a failure" $? 1
		pid=
	done
}

test_rotation()
{
	fresh 50
	start -t 0.05 -s rotate_size=20k -s keep=3 -s compress=no -s record=cumulative -s job=job-7
	wait_for nr_files eq 3
	sleep 1
	stop
	check "three files are kept" nr_files eq 3
	for file in $(files); do
		check "the file is consistent" consistent "$file"
		check "names in each file" is "$file" events eq 40
		check "INFO in each file" is "$file" infos ge 1
		check "the job id in each file" [ "$(value job "$file")" = job-7 ]
	done
}

# Empty files are removed again, and do not expire older files.
test_keep_empty()
{
	fresh 0
	for _ in 1 2 3; do
		"$ktaud" --root "$tmp/root" -d "$tmp/data" -1 2>"$tmp/log"
	done
	before=$(files)
	for keep in 5 3 1; do
		start -i trace -t 0.05 -s rotate_time=0.05 -s keep=$keep
		wait_for nr_files eq 4
		sleep 0.5
		check "nothing to write, keep=$keep: a new file exists while ktaud runs" \
			nr_files eq 4
		stop
		check "the message says that the empty file is removed" \
			grep -q ' periods, 0 bytes, the last file is removed' "$tmp/log"
		check "older files are kept" [ "$(files)" = "$before" ]
	done

	# A file with data counts; a file that was removed meanwhile does not.
	start -i trace -t 0.05 -s keep=2
	wait_for nr_files eq 4
	rm "$(echo "$before" | tail -1)"
	"$stream" write "$tmp/root" 3 1
	wait_for nr_files eq 2
	stop
	check "two files are kept, one of them older" \
		[ "$(files | head -1)" = "$(echo "$before" | sed -n 2p)" ]
}

# Count complete streams in complete blocks of a file, without the library.
whole_ends()
{
	PYTHONDONTWRITEBYTECODE=1 python3 - "$1" <<- 'END'
		import struct, sys
		sys.path.insert(0, "tests/unit/libktau")
		import abi_decoder
		data = open(sys.argv[1], "rb").read()
		delta = abi_decoder.Delta(abi_decoder.Page(abi_decoder.PAGE), "<")
		at, ends = struct.unpack_from("<H", data, 6)[0], 0
		while at + 48 <= len(data):
		    _, size, _, compression, encoding, _, stored, raw = struct.unpack_from(
		        "<IHHBBHII", data, at)
		    payload = data[at + size:at + size + stored]
		    at += size + (stored + 7) // 8 * 8
		    if at > len(data):
		        break
		    payload = abi_decoder.unpack_payload(compression, payload, raw)
		    payload = delta.decode(payload) if encoding else payload
		    here = 0
		    while here < len(payload):
		        size, kind = struct.unpack_from("<IH", payload, here)
		        ends += kind == 4
		        here += size
		print(ends)
	END
}

# Print the number of key blocks of a file, and write the file from its last one on to $tmp/last.
key_blocks()
{
	python3 - "$1" "$tmp/last" <<- 'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		begin = struct.unpack_from("<H", data, 6)[0]
		at, keys = begin, []
		while at < len(data):
		    _, size, _, _, _, flags, stored = struct.unpack_from("<IHHBBHI", data, at)
		    if flags & 1:
		        keys.append(at)
		    at += size + (stored + 7) // 8 * 8
		open(sys.argv[2], "wb").write(data[:begin] + data[keys[-1]:])
		print(len(keys))
	END
}

# A reader of a time window starts at a key block, so a file needs them with traces alone, too.
test_key_blocks()
{
	fresh 3
	start -t 0.005 -i trace
	wait_for nr_files eq 1
	file=$(files)
	wait_for is "$file" streams ge 130
	stop
	streams=$(value streams "$file")
	check "$streams streams of traces: a key block at the start and at every 60th" \
		[ "$(key_blocks "$file")" -eq $((1 + streams / 60)) ]
	check "the file is consistent" consistent "$file"
	check "the last key block needs no earlier one: all events" \
		is "$tmp/last" events eq "$(value events "$file")"
	check "the last key block needs no earlier one: traces" is "$tmp/last" traces ge 1
}

# Killed at any moment, also during a write: complete blocks can be read, with at most one
# finding, for the partial block at the end.
test_kill()
{
	compress=zlib
	for delay in 0.2 0.31 0.42 0.53 0.24 0.35 0.46 0.57; do
		fresh 200
		start -t 0.01 -i both -s record=cumulative -s compress=$compress
		wait_for nr_files eq 1
		sleep $delay
		kill -9 $pid
		wait $pid 2>/dev/null
		pid=
		file=$(files)
		"$stream" read "$file" >"$tmp/read"
		check "killed after $delay s: consistent up to the end" \
			sh -c "! grep '^finding' '$tmp/read' | grep -v '^finding loss' | grep -v truncated"
		check "killed after $delay s: all complete blocks are read" \
			is "$file" ends eq "$(whole_ends "$file")"
		compress=no
	done
	check "the last file has at least five streams" is "$file" streams ge 5
}

test_full_disk()
{
	fresh 100
	mkdir -p "$tmp/full"
	if ! mount -t tmpfs -o size=1m tmpfs "$tmp/full" 2>/dev/null; then
		echo "skipped: full disk (cannot mount a tmpfs)"
		return
	fi
	dd if=/dev/zero of="$tmp/full/ballast" bs=1k count=600 2>/dev/null
	"$ktaud" --root "$tmp/root" -d "$tmp/full" -t 0.02 -s compress=no \
		-s record=cumulative 2>"$tmp/log" &
	pid=$!
	wait_for grep -q "No space left on device; waiting for space" "$tmp/log"
	sleep 0.5
	file=$(echo "$tmp"/full/*.ktau)
	check "ktaud keeps running" kill -0 $pid
	check "the wait is logged once" [ "$(grep -c waiting "$tmp/log")" -eq 1 ]
	check "no finding in the existing file" sh -c "! '$stream' read '$file' | grep -q finding"
	before=$(value streams "$file")
	rm "$tmp/full/ballast"
	wait_for grep -q "writing $file again" "$tmp/log"
	wait_for is "$file" streams gt "$before"
	# Enough room for the rest, or the disk would be full again at the end.
	mount -o remount,size=64m "$tmp/full"
	wait_for is "$file" streams gt $((before + 5))
	stop
	check "the file is consistent" consistent "$file"
	check "every stream has its end" is "$file" ends eq "$(value streams "$file")"
	check "lost periods are logged" grep -q "[1-9][0-9]* lost because the disk was full" "$tmp/log"
	lost=$(sed -n 's/.* \([0-9]*\) lost because the disk was full.*/\1/p' "$tmp/log")
	check "they are in the file" [ "$("$ktau" dump "$file" |
		awk '$1 == "gap" && $4 == "from" && $NF == "error=28" { n += $2 } END { print n }')" = "$lost" ]
	check "ktau check says so in one line" [ "$("$ktau" check "$file" |
		grep -c "full/.*: $lost periods from 2.*Z to 2.*Z were not recorded: No space left on device$")" = 1 ]
	check "ktau report, too" [ "$("$ktau" report --tables=losses --format=csv "$file" |
		sed -n 's/^lost_periods,//p; s/^\([0-9]*\),lost_periods.*/\1/p')" = "$lost" ]
	umount "$tmp/full"
}

# Start a ktaud whose first stream does not fit, with a long period; it waits, writing $file.
start_full()
{
	mkdir -p "$tmp/full"
	mount -t tmpfs -o size=1m tmpfs "$tmp/full" 2>/dev/null || return
	"$ktaud" --root "$tmp/root" -d "$tmp/full" -t 3600 -s compress=no 2>"$tmp/log" &
	pid=$!
	wait_for grep -q "waiting for space" "$tmp/log"
	file=$(echo "$tmp"/full/*.ktau)
}

# Free space is noticed soon, even with a long period.
test_full_soon()
{
	fresh 1000
	start_full || return
	sleep 2.5
	check "the wait is logged once" [ "$(wc -l <"$tmp/log")" -eq 1 ]
	mount -o remount,size=64m "$tmp/full"
	sleep 2
	check "space is found within two seconds" grep -q "writing $file again" "$tmp/log"
	check "the previous stream continues" is "$file" profiles eq 1001
	check "it continues to its end" is "$file" ends eq 1
	stop
	check "the file is consistent" consistent "$file"
	umount "$tmp/full"
}

# If the waiting stream proves to be damaged, the next stream is written in full.
test_full_damaged()
{
	fresh 1000
	truncate -s -100 "$tmp/root/profile"
	start_full || return
	check "the stream is not read to its end" [ "$(wc -l <"$tmp/log")" -eq 1 ]
	mount -o remount,size=64m "$tmp/full"
	wait_for grep -q "^ktaud: $tmp/root/profile: .*" "$tmp/log"
	before=$(value profiles "$file")
	"$stream" write "$tmp/root" 1000 2
	kill -USR1 $pid
	wait_for is "$file" ends eq 1
	check "the next stream is written in full" is "$file" profiles eq $((before + 1001))
	stop
	umount "$tmp/full"
}

# leave_full CONFIGURATION: let a ktaud wait for space, then change its directory by a reload.
leave_full()
{
	mkdir -p "$tmp/full"
	mount -t tmpfs -o size=1m tmpfs "$tmp/full" 2>/dev/null || return 1
	printf '%boutput_dir %s/full\n' "$1" "$tmp" >"$tmp/conf"
	"$ktaud" --root "$tmp/root" -f "$tmp/conf" 2>"$tmp/log" &
	pid=$!
	wait_for grep -q "waiting for space" "$tmp/log"
	sed -i "s|/full|/data|" "$tmp/conf"
	kill -HUP $pid
}

# A reload with another directory ends the wait for space.
test_full_reload()
{
	fresh 100
	leave_full 'sample_period 0.02\ncompress no\nrecord cumulative\n' || return
	wait_for nr_files eq 1
	file=$(files)
	wait_for is "$file" streams ge 5
	stop
	check "the file is consistent" consistent "$file"
	check "every stream has its end" is "$file" ends eq "$(value streams "$file")"
	check "the old file can be read" is "$(echo "$tmp"/full/*.ktau)" streams ge 1
	umount "$tmp/full"
}

# Consumed slots exist nowhere else: they are written to the new directory, except those of
# the waiting block, which are logged as lost. Each trace has an OWNER record.
test_full_traces()
{
	fresh 20000
	leave_full 'sample_period 3600\ncompress no\ninfo trace\n' || return
	wait_for grep -q "now writing" "$tmp/log"
	stop
	dropped=$(sed -n 's/.*is incomplete: \([0-9]*\) records did not fit$/\1/p' "$tmp/log")
	before=$(value traces "$(echo "$tmp"/full/*.ktau)")
	after=$(value traces "$(files)")
	# One stream each for the blocked one, the first period and the end.
	check "each trace is written or logged as lost: $before + $dropped / 2 + $after" \
		[ $((before + (dropped + 1) / 2 + after)) -eq 60000 ]
	check "most traces are written" [ "$dropped" -lt 5000 ]
	check "the file is consistent" consistent "$(files)"
	check "every stream has its end" is "$(files)" ends eq 3
	umount "$tmp/full"
}

# Space never becomes free: the loss is logged at the end, and the file has complete blocks.
test_full_end()
{
	fresh 100
	(
		ulimit -f 2048
		exec "$ktaud" --root "$tmp/root" -d "$tmp/data" -t 0.02 -s compress=no \
			-s record=cumulative 2>"$tmp/log"
	) &
	pid=$!
	wait_for grep -q "waiting for space" "$tmp/log"
	sleep 0.3
	kill -TERM $pid
	wait $pid
	check "the status shows that data were lost" [ $? -eq 1 ]
	pid=
	check "the loss is logged" grep -q "is incomplete" "$tmp/log"
	lost=$(sed -n 's/.* \([0-9]*\) lost because the disk was full.*/\1/p' "$tmp/log")
	check "several periods are lost: $lost" [ "$lost" -ge 3 ]
	# The last stream may lack its end.
	"$ktau" check "$(files)" >"$tmp/said" 2>/dev/null
	check "the file says so, although there is no space" \
		grep -q ": $lost periods from 2.*Z to 2.*Z were not recorded: File too large$" "$tmp/said"
	"$stream" read "$(files)" >"$tmp/read"
	check "the file has complete blocks only" sh -c "! grep finding '$tmp/read'"
	check "the existing file can be read" is "$(files)" streams ge 1
}

# sample FILE METRIC: a figure of routine sys_1 in an OpenMetrics file.
sample()
{
	sed -n "s/^$2{.*routine=\"sys_1\".*} //p" "$1" 2>/dev/null
}

counted()
{
	test "$(sample "$1" ktau_routine_calls_total)" -ge "$2"
}

# In step S each of the three live tasks, and each exited one, has 10 x S calls. The file is written
# in every period, although the data has differences, and after a new configuration.
test_openmetrics()
{
	fresh 3
	printf 'sample_period 0.05\noutput_dir %s/data\nopenmetrics %s/k.prom\n' "$tmp" "$tmp" \
		>"$tmp/conf"
	"$ktaud" --root "$tmp/root" -f "$tmp/conf" 2>"$tmp/log" &
	pid=$!
	wait_for counted "$tmp/k.prom" 30
	for step in 2 3; do
		"$stream" write "$tmp/root" 3 $step
		# One more than the live tasks alone
		wait_for counted "$tmp/k.prom" $((30 * step + 1))
	done
	check "the totals include exited tasks" \
		[ "$(sample "$tmp/k.prom" ktau_routine_calls_total)" -gt 90 ]
	check "the file ends as it should" [ "$(tail -1 "$tmp/k.prom")" = "# EOF" ]

	printf 'sample_period 0.05\noutput_dir %s/data\nopenmetrics %s/none/k.prom\n' "$tmp" \
		"$tmp" >"$tmp/conf"
	kill -HUP $pid
	wait_for grep -q "cannot write $tmp/none/k.prom: No such file" "$tmp/log"
	mkdir "$tmp/none"
	wait_for counted "$tmp/none/k.prom" 90
	stop
	check "the failures are counted" \
		grep -q "OpenMetrics file could not be written [1-9][0-9]* times" "$tmp/log"
	check "and logged once" [ "$(grep -c "cannot write $tmp/none" "$tmp/log")" -eq 1 ]
	check "the data is not affected" consistent "$(files | tail -1)"
}

# taken COMMAND MESSAGE: let ktaud write, take its file away with COMMAND, and let it write on.
taken()
{
	fresh 3
	start -t 0.05 -i both -s record=cumulative
	wait_for nr_files eq 1
	file=$(files)
	wait_for is "$file" streams ge 2
	eval "$1"
	wait_for grep -q "^ktaud: $file $2 by another program; continuing in a new file" "$tmp/log"
	sleep 0.2
	stop
	check "file $2: one message" [ "$(grep -c 'another program' "$tmp/log")" -eq 1 ]
	last=$(files | tail -n 1)
	check "file $2: the rest is in a new file" is "$last" streams ge 3
	check "file $2: the new file is consistent" consistent "$last"
	[ "$last" != "$file" ]
	check "file $2: its name is not used again" [ $? -eq 0 ]
}

test_taken()
{
	# shellcheck disable=SC2016 # expanded by eval
	taken 'rm "$file"' "has been removed or renamed"
	# shellcheck disable=SC2016
	taken 'mv "$file" "$file.1"' "has been removed or renamed"
	check "the renamed file is consistent" consistent "$file.1"
	# shellcheck disable=SC2016
	taken ': >"$file"' "has been truncated"
	# shellcheck disable=SC2016
	taken 'cp "$file" "$file.1"; mv "$file.1" "$file"' "has been replaced by another file"
	check "the other file is not changed" consistent "$file"
}

test_cost()
{
	fresh 1000
	start -t 0.1 -i both
	sleep 1.5
	kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status)
	# The address sanitizer itself uses more.
	! grep -q 'libasan' /proc/$pid/maps || kb=0
	stop
	check "at most 32 MiB for 1,000 tasks" [ "$kb" -le 32768 ]
}

run config places period choice signals ignored_signals fifo rotation keep_empty key_blocks kill \
	full_disk full_soon full_damaged full_reload full_traces full_end taken openmetrics cost
