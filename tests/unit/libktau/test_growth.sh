#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers with smaller and larger structures than the current ones read streams of writers
# with smaller, current and larger ones: each reads the fields that both have.
#
# usage: test_growth.sh BUILD_DIRECTORY

set -eu
build=$1
work=$build/tests/unit/libktau/growth
uapi=kernel-ext/include/uapi/linux/ktau.h
# The decoder only: the rest of the library uses fields that the smaller header lacks.
sources='blocks buffer clock decode delta delta_slots events fail fields info map names pack reader
	record registry slot source swap'
. tests/tap.sh

ok() {
	if [ "$1" -eq 0 ]; then
		pass "$2"
	else
		fail "$2"
	fi
}

# headers DIRECTORY AWK: edited copies of the headers, without the assertions of sizes.
headers() {
	mkdir -p "$work/$1/linux"
	cp "${uapi%.h}_groups.h" "${uapi%.h}_references.h" "$work/$1/linux"
	awk '/^#if defined\(__STDC_VERSION__\)/ { skip = 1 }
	     !skip { print }
	     /^#endif/ { skip = 0 }' $uapi | awk "$2" >"$work/$1/linux/ktau.h"
}

# Later structures have three more fields at their end;
larger='
/^struct ktau_(rec_[a-z]+|entry|open|select|info) \{/ { grows = 1 }
/^};/ && grows { print "\t__aligned_u64 grown[3];"; grows = 0 }
{ print }'

# earlier ones lacked these fields.
# shellcheck disable=SC2016
smaller='
/^struct / { name = $2 }
/^};/ { name = "" }
name == "ktau_rec_stream" && /(machine\[|(cpu_pair|call_pair|switch)_mticks|exited_since)/ { next }
name == "ktau_rec_profile" && /(depth|reserved|(user|kernel|irq|runq|asleep|guest)_ticks);/ { next }
name == "ktau_entry" && /(asleep|runq|irq);/ { next }
name == "ktau_rec_trace" && /no_room/ { next }
name == "ktau_rec_end" && /(refused_|lost_[nre]|evicted;|clamped;|internal_|missed)/ { next }
{ print }'

rm -rf "$work"
headers today '{ print }'
headers larger "$larger"
headers smaller "$smaller"
mkdir -p "$work/streams"
"$build/tests/unit/libktau/sample" --streams "$work/streams"

rc=0
cmp -s "$work/today/linux/ktau.h" "$work/larger/linux/ktau.h" && rc=1
cmp -s "$work/today/linux/ktau.h" "$work/smaller/linux/ktau.h" && rc=1
structures=$(grep -cE '^struct ktau_(rec_[a-z]+|entry|open|select|info) \{' $uapi)
[ "$(grep -c 'grown\[3\]' "$work/larger/linux/ktau.h")" -eq "$structures" ] || rc=1
[ "$(($(wc -l <"$work/today/linux/ktau.h") - $(wc -l <"$work/smaller/linux/ktau.h")))" -eq 35 ] || rc=1
ok $rc "the headers differ"

for reader in today larger smaller; do
	files=
	for name in $sources; do
		# A library of that version would not use the field, and have a list without it.
		sed '/stream->machine/d; s/_Static_assert.*//' "libktau/$name.c" \
			>"$work/$reader/$name.c"
		files="$files $work/$reader/$name.c"
	done
	rc=0
	# shellcheck disable=SC2086
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -g ${GROWTH_CFLAGS:-} \
		-I"$work/$reader" -Ilibktau/include -Ilibktau -o "$work/$reader/growth" \
		tests/unit/libktau/growth.c $files -lz || rc=1
	[ $rc -eq 0 ] || ok $rc "a reader with $reader structures is built"
	[ $rc -eq 0 ] || continue
	for writer in today larger smaller; do
		rc=0
		"$work/$reader/growth" "$work/streams/$writer" >"$work/$reader/$writer" || rc=1
		[ "$(grep -c . "$work/$reader/$writer")" -gt 40 ] || rc=1
		diff "$work/today/today" "$work/$reader/$writer" || rc=1
		ok $rc "reader with $reader structures, writer with $writer ones"
	done
done

done_testing
