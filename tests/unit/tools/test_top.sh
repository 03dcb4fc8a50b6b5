#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktau top in a terminal of 80 x 24 (tmux), replaying a file: every key, resizing, and the state
# of the terminal after every kind of exit.
#
#	tests/unit/tools/test_top.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=top

command -v tmux >/dev/null || {
	skip "a terminal" "tmux is not installed"
	done_testing
	exit 0
}

tmp=$(mktemp -d)
nr=0
trap 'term kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
"$build/tests/unit/tools/sample" "$tmp" || exit 1

term()
{
	tmux -S "$tmp/tmux$nr" -f /dev/null "$@"
}

# open_term COMMAND: run it in a new window of 80 x 24; the last line then has its status.
open_term()
{
	[ $nr -eq 0 ] || term kill-server
	nr=$((nr + 1))
	LC_ALL=C.UTF-8 term new-session -d -x 80 -y 24 \
		"trap : INT; stty -g >$tmp/before; echo \$\$ >$tmp/shell; $1; s=\$?; stty -g >$tmp/after; echo ended with \$s; cat"
}

screen()
{
	term capture-pane -p
}

# shows PATTERN: wait until a line of the screen matches.
shows()
{
	tries=0
	while ! screen | grep -Eq -e "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			screen | sed 's/^/#   /'
			return 1
		}
		sleep 0.05
	done
}

hides()
{
	shows . && ! screen | grep -Eq -e "$1"
}

keys()
{
	printf '%s\n' "$@" >>"$tmp/driven"
	term send-keys "$@"
}

run="$build/tools/ktau/ktau top -d 1000 $tmp/good.ktau"

pages()
{
	open_term "$run"
	check "it begins with the first period" shows '^ionode .* stream 2 of 3$'
	check "each CPU has a bar" shows '^CPU0   \[\|+ +\]  55.5%  CPU1   \[\|+ +\]  55.5%'
	check "it has the default report's columns" \
		shows '^NAME +TASKS +USER +KERNEL +IRQ +RUNQ +ASLEEP'
	check "it has a task's current call" shows '^sleeper .* sys_read, 9.0 s$'
	check "rows are sorted by kernel time" [ "$(screen | sed -n 5p | cut -d' ' -f1)" = server ]
	keys Right
	check "right: the next period, frozen" shows 'stream 3 of 3  FROZEN'
	keys Right
	keys Left
	check "left: the previous period" shows 'stream 2 of 3  FROZEN'
	keys Left Right
	check "the replay stops at the first and the last period" shows 'stream 3 of 3'
	keys i
	check "i: interrupts by line and CPU" shows '^local_timer +1 +100 +100 +2.000'
	keys Escape
	check "Esc: back" shows '^server '
	keys i
	shows '^local_timer '
	keys BSpace
	check "Backspace: back" shows '^server '
	keys Enter
	check "Enter: routines of the selected row" shows '^server: routines'
	check "Enter: times of the routines" shows ' 48.4% +20 +40.000 +30.000 .* sys_write'
	keys w
	check "w: waits" shows '^ +6 +62.000 +60.000 .* sk_wait_data'
	keys r
	check "r: regions" shows '^no regions in this period'
	keys v
	check "v: the group kvm is not measured" shows '^time in guests is not measured'
	keys l
	check "l: losses" shows '^ +20  lost_overwritten'
	for key in '?' h; do
		keys "$key"
		check "$key: the keys" shows '^w +its waits'
		check "$key: all keys are listed" \
			[ "$(screen | grep -cE '^(Up|Enter|w|r|i|v|l|Esc|s|/|f|Left|\?|q)[ ,]')" -eq 14 ]
		keys Escape
		shows '^server '
	done
	keys Escape
	shows '^server '
}

# A period of 1 s: of the thread 815, 600 ms in the guest, 20 + 70 + 10 ms outside of it, 250 ms ready
vms()
{
	open_term "$build/tools/ktau/ktau top -d 1000 --vm $tmp/vms"
	check "--vm: the threads of virtual CPUs, and no others" shows '^virtual CPUs of this .* guests: 3$'
	screen | sed -n '/^VM /,/^$/p' | sed '$d' | tr -s ' ' >"$tmp/shown"
	check "--vm: the time of each" cmp "$tmp/shown" - <<- END
		VM THREAD TID GUEST VMM PREEMPTED IDLE
		kvmtool/700 kvmtool 700 50.0% 10.0% 40.0% 0.0%
		qemu-system-x86/810 CPU 0/KVM 815 60.0% 10.0% 25.0% 5.0%
		qemu-system-x86/810 CPU 1/KVM 816 0.0% 0.0% 0.0% 100.0%
	END
	keys Escape
	check "--vm: Esc shows the tasks" shows '^4 rows by kernel time'
	open_term "$build/tools/ktau/ktau top -d 1000 --vm -p 700 $tmp/vms"
	check "--vm --pid: only this process" shows '^virtual CPUs of this .* guests: 1$'
	keys q
	shows '^ended with 0'
}

# Each of three tasks does half of everything in a region; one of the regions has a name.
regions()
{
	"$build/tests/unit/tools/crowd" regions "$tmp/regions.ktau"
	printf '%s\n' 'ktau-user 1' 'boot 0b0071d0-0102-0304-0506-0708090a0b0c' 'serial 1001' \
		'region 1 0 outer' > "$tmp/ktau-user.crowd.101.101"
	open_term "$build/tools/ktau/ktau top -d 1000 -p 101 --region-names=$tmp $tmp/regions.ktau"
	shows '^ionode .* stream 2 of '
	keys r
	check "r: the regions of the program" shows '^ +[0-9]+ .* outer => routine_0'
}

rows()
{
	keys s
	check "s: sorted by user time" shows 'rows by user time'
	for column in irq runq asleep life name kernel user irq runq asleep; do
		keys s
		check "s: sorted by $column" shows "rows by $column time"
	done
	check "s: the longest sleeper is first" \
		[ "$(screen | sed -n 5p | cut -d' ' -f1)" = kworker/0:1 ]
	keys s s
	check "s: sorted by name" shows 'rows by name'
	keys Down Enter
	check "Down: the next row" shows '^sleeper: routines'
	keys Escape
	shows 'rows by name'
	keys / s l
	check "/: the typed filter is shown" shows '^filter: sl_'
	check "/: rows that do not match are hidden" hides '^server '
	keys Enter
	check "/: the active filter is shown" shows '^1 rows by name time, with sl$'
	keys Enter
	check "/: the remaining row is selected" shows '^sleeper: routines'
	keys Escape / Enter
	check "/: an empty filter shows all rows" shows '^4 rows by name'
}

sizes()
{
	term resize-window -x 60 -y 10
	check "a smaller window shows the keys" shows '^ Enter routines  w waits  i interrupts'
	check "a smaller window shows the rows" shows '^server '
	check "a smaller window has no longer lines" [ "$(screen | wc -L)" -le 60 ]
	term resize-window -x 20 -y 4
	keys i w Enter Escape
	term resize-window -x 132 -y 30
	check "a larger window has all columns" shows 'ASLEEP +TOP ROUTINE +DOING NOW'
	keys q
	check "q ends the program" shows '^ended with 0'
	check "q: the terminal is restored" cmp "$tmp/before" "$tmp/after"
}

# ends SIGNAL STATUS WHAT
ends()
{
	open_term "$run"
	shows '^server '
	if [ "$1" = C-c ]; then
		keys C-c
	else
		kill -"$1" "$(pgrep -P "$(cat "$tmp/shell")" -x ktau)"
	fi
	check "$3: the program ends" shows "^ended with $2"
	check "$3: the terminal is restored" cmp "$tmp/before" "$tmp/after"
	check "$3: the cursor is visible" [ "$(term display-message -p '#{cursor_flag}')" = 1 ]
	check "$3: the normal screen is shown" \
		[ "$(term display-message -p '#{alternate_on}')" = 0 ]
}

# rchar KEY PATTERN: the bytes read until the key has shown the line
rchar()
{
	top=$(pgrep -P "$(cat "$tmp/shell")" -x ktau)
	before=$(sed -n 's/^rchar: //p' "/proc/$top/io")
	keys "$1"
	shows "$2"
	echo $(($(sed -n 's/^rchar: //p' "/proc/$top/io") - before))
}

# A file of nine streams, of which the first and the seventh are full.
steps()
{
	"$build/tests/unit/tools/crowd" "$tmp/crowd.ktau" 2000 0
	size=$(stat -c %s "$tmp/crowd.ktau")
	open_term "$build/tools/ktau/ktau top -d 1000 $tmp/crowd.ktau"
	check "index: the first period" shows 'stream 2 of 9$'
	keys Right Right Right Right Right
	check "index: five periods later" shows 'stream 7 of 9  FROZEN'
	bytes=$(rchar Right 'stream 8 of 9')
	check "index: a step reads from the last full stream on: $bytes of $size bytes" \
		[ "$((bytes * 2))" -lt "$size" ]
	screen | sed 1d >"$tmp/index"
	keys Left Left Left Left Left Left Left
	check "index: back to the first period" shows 'stream 2 of 9'
	keys Right Right Right Right Right Right
	check "index: forward again" shows 'stream 8 of 9'
	screen | sed 1d >"$tmp/again"
	check "index: the same screen as before" cmp "$tmp/index" "$tmp/again"
}

# The number of the stream on the screen
stream()
{
	screen | sed -n '1s/.* stream \([0-9]*\) of .*/\1/p'
}

# More records than are indexed at once
large()
{
	"$build/tests/unit/tools/crowd" "$tmp/large.ktau" 20000 0
	open_term "$build/tools/ktau/ktau top -d 1000 $tmp/large.ktau"
	check "large: the first period is shown before all is indexed" \
		shows 'stream 2 of [3-8]\+$'
	known=$(screen | sed -n '1s/.* of \([0-9]*\)+$/\1/p')
	at=2
	while [ "$at" -lt "$known" ]; do
		at=$((at + 1))
		keys Right
		shows "stream $at of $known\+  FROZEN" || return
	done
	keys Right
	check "large: a step past the known periods finds the others" \
		shows "stream $((known + 1)) of [6-9]\+?  FROZEN"
}

# row NR: the name in a row of the screen, from 1; a negative number counts from the end
row()
{
	if [ "$1" -gt 0 ]; then
		screen | sed -n "$(($1 + 4))p"
	else
		screen | sed '/^ Enter\|^ Esc/,$d; /^$/d' | tail -n "${1#-}" | head -n 1
	fi | awk '{ print $1 }'
}

# selected: the name of the selected row
selected()
{
	keys Enter
	shows ': routines' >/dev/null
	screen | sed -n 's/: routines.*//p'
	keys Escape
	shows ' rows by name' >/dev/null
}

# More rows than fit on the screen
moves()
{
	open_term "$build/tools/ktau/ktau top -d 1000 $tmp/crowd.ktau"
	shows 'stream 2 of 9$'
	keys s s s s s s
	shows ' rows by name'
	# The selected row stays selected when the order changes
	check "the screen begins in the middle" [ "$(row 1)" != worker_1 ]
	keys Home
	check "Home: the first row is on the screen" shows '^worker_1 '
	first=$(row 1)
	second=$(row 2)
	bottom=$(row -1)
	keys Down
	same "Down: the second row is selected" "$(selected)" "$second"
	keys Up
	same "Up: the first row is selected" "$(selected)" "$first"
	keys NPage
	next=$(selected)
	same "Page down: the row after the last one on the screen is selected" \
		"$(row -2) $(row -1)" "$bottom $next"
	keys PPage
	same "Page up: the first row is selected" "$(selected)" "$first"
	keys End
	last=$(selected)
	same "End: the last row is selected" "$last" "$(row -1)"
	check "End: it was not on the first screen" [ "$last" != "$bottom" ]
	check "End: the first row is not on the screen" hides "^$first "
	keys Home
	same "Home: the first row is selected" "$(selected)" "$first"
	same "Home: it is at the top" "$(row 1)" "$first"
}

# scrolls KEY LINE: on a page of routines, the key brings the line to the top
scrolls()
{
	keys "$1"
	check "$1 scrolls the routines" top_line "$2"
}

top_line()
{
	tries=0
	until [ "$(screen | sed -n 5p)" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return 1
		sleep 0.05
	done
}

# A page of twelve routines, of which five are on the screen
scrolling()
{
	keys Enter
	shows ': routines'
	screen | sed -n '5,16p' >"$tmp/routines"
	same "there are twelve routines" "$(wc -l <"$tmp/routines")" 12
	term resize-window -x 80 -y 10
	shows '^ Esc back'
	top_line "$(sed -n 1p "$tmp/routines")"
	shown=$(screen | sed -n '5,9p' | grep -c '%')
	scrolls Down "$(sed -n 2p "$tmp/routines")"
	scrolls Up "$(sed -n 1p "$tmp/routines")"
	scrolls NPage "$(sed -n "$((shown + 1))p" "$tmp/routines")"
	scrolls PPage "$(sed -n 1p "$tmp/routines")"
	scrolls End "$(sed -n $((13 - shown))p "$tmp/routines")"
	check "End: the last routine is shown" grep -qF "$(tail -n 1 "$tmp/routines")" <<- END
		$(screen)
	END
	scrolls Home "$(sed -n 1p "$tmp/routines")"
}

# A replay with a period of a second. On a busy machine a stream can be over before it is seen.
freezes()
{
	open_term "$build/tools/ktau/ktau top -d 1 $tmp/crowd.ktau"
	shows 'stream [2-8] of 9$'
	keys f
	check "f: frozen" shows 'FROZEN'
	at=$(stream)
	sleep 1.5
	same "f: the screen stays" "$(stream)" "$at"
	keys f
	check "f: the replay continues" shows "stream [$((at + 1))-9] of 9$"
}

# listed: the keys in the page, by tmux's names
listed()
{
	sed -n '/^\.SH KEYS/,/^\.SH OPTIONS/p' tools/ktau/commands/ktau-top.1 | grep -A 1 '^\.TP' |
		sed -n 's/^\.BR* //p' | sed 's/" *", " *"/\n/g; s/ ", " */\n/g' | tr -d '"' |
		sed 's/^Page up$/PPage/; s/^Page down$/NPage/; s/^Esc$/Escape/
			s/^Backspace$/BSpace/; s/^Ctrl-C$/C-c/' | sort -u
}

covered()
{
	listed >"$tmp/listed"
	check "the page lists keys" [ "$(wc -l <"$tmp/listed")" -ge 19 ]
	sort -u "$tmp/driven" >"$tmp/tested"
	same "every key in the page has been pressed" \
		"$(comm -23 "$tmp/listed" "$tmp/tested" | tr '\n' ' ')" ""
}

replays()
{
	open_term "$build/tools/ktau/ktau top -d 0.1 --by=pid $tmp/good.ktau"
	check "a replay continues by itself" shows 'stream 3 of 3'
	check "--by=pid" shows '^NAME +PID +USER'
	open_term "$build/tools/ktau/ktau top -d 1000 --by=user $tmp/good.ktau"
	check "--by=user" shows '^uid 33 '
	open_term "$build/tools/ktau/ktau top -d 1000 --by=cgroup $tmp/good.ktau"
	check "--by=cgroup" shows '^/system.slice/server '
	open_term "$build/tools/ktau/ktau top -d 1000 -p 101 $tmp/good.ktau"
	check "-p TID selects the process of a thread" shows '^1 rows by kernel time'
	open_term "$build/tools/ktau/ktau top -d 1000 --host=othernode $tmp/good.ktau $tmp/elsewhere"
	check "--host selects one of two machines" shows '^othernode '
	open_term "$build/tools/ktau/ktau top --host=x $tmp/good.ktau"
	check "an unknown host is an error" shows 'contains no profiles of host x'
	open_term "TERM=nonsense $run"
	check "an unknown terminal is an error" shows 'cannot use this terminal: TERM is nonsense'
	open_term "TERM=dumb $run"
	check "a terminal without a cursor is an error" \
		shows 'cannot draw on this terminal: TERM is dumb; ktau report --live'
	"$build/tools/ktau/ktau" top "$tmp/good.ktau" </dev/null >"$tmp/out" 2>&1
	check "no terminal is an error" grep -q 'top: cannot run without a terminal' "$tmp/out"
}

pages
rows
sizes
ends C-c 130 "Ctrl-C"
ends TERM 143 "SIGTERM"
ends SEGV 139 "a crash"
steps
large
moves
scrolling
freezes
replays
vms
regions
covered
done_testing
