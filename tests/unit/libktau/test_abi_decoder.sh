#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# abi_decoder.py implements docs/dev/abi.md. It must decode every stream and file to the same
# records as libktau, and each of the two must read the files of the other.
#
# usage: test_abi_decoder.sh BUILD_DIRECTORY

set -eu
build=$1
tests=tests/unit/libktau
work=$(mktemp -d /tmp/ktau-abi-XXXXXX)
trap 'rm -rf "$work"' EXIT
streams="$tests/data/x86_64/profile $tests/data/x86_64/trace
	$tests/data/powerpc/profile $tests/data/powerpc/trace"
recorded=tests/unit/tools/data/recorded.ktau
releases=$(echo "$tests"/data/[0-9]*/profile "$tests"/data/[0-9]*/trace "$tests"/data/[0-9]*/*.ktau)
# One stream of each kind, for tests that vary them.
some="$tests/data/x86_64/trace $tests/data/powerpc/profile $recorded"
. tests/tap.sh

page() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$tests/abi_decoder.py" "$@"
}

ok() {
	if [ "$1" -eq 0 ]; then
		pass "$2"
	else
		fail "$2"
	fi
}

# alike FILE: both decoders return the same records, and at least one.
alike() {
	page plain "$1" >"$work/page" && "$build/$tests/records" "$1" >"$work/libktau" &&
		[ -s "$work/page" ] && cmp "$work/page" "$work/libktau"
}

# figures FILE: the counts and sums by abi_decoder.py, without the file's name.
figures() {
	page check "$1" >"$work/figures.out" && sed 's/^[^ ]* //' "$work/figures.out"
}

mkdir "$work/streams"

for file in $streams $recorded $releases; do
	rc=0
	page check "$file" >"$work/out" || rc=1
	ok $rc "$file obeys the rules of docs/dev/abi.md"
	rc=0
	alike "$file" || rc=1
	ok $rc "$file: both decoders agree"
done

# Violations of the page's rules are detected.
for file in $streams; do
	rc=0
	page selftest "$file" >"$work/out" || rc=1
	[ $rc -eq 0 ] || cat "$work/out"
	[ "$(wc -l <"$work/out")" -gt 10 ] || rc=1
	ok $rc "each violation in $file is detected"
done

# Streams with every feature: structures of other sizes, both byte orders.
"$build/$tests/sample" --streams "$work/streams"
for name in today smaller larger big; do
	rc=0
	alike "$work/streams/$name" || rc=1
	ok $rc "a stream with every feature: both decoders agree ($name)"
done
"$build/$tests/sample" "$work/sample.ktau"
rc=0
alike "$work/sample.ktau" || rc=1
ok $rc "a file with a key block: both decoders agree"

# References to pages, which no recorded stream has.
for order in '<' '>'; do
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/unit/tools python3 -c "
import sys, pages_encode, pages_oracle
entries = pages_oracle.Script(1).write(1000)
sys.stdout.buffer.write(pages_encode.encode(entries, '$order'))" >"$work/pages"
	rc=0
	alike "$work/pages" || rc=1
	ok $rc "references to pages: both decoders agree ($order)"
done

# libktau writes and abi_decoder.py reads.
for file in $some; do
	figures "$file" >"$work/figures"
	"$build/$tests/records" "$file" >"$work/before"
	for flags in d z ds; do
		rc=0
		rm -f "$work/written.ktau"
		"$build/$tests/records" $flags "$file" "$work/written.ktau" || rc=$?
		[ $rc -ne 77 ] || continue
		case $flags in
		*s) command -v zstd >/dev/null || continue ;;
		esac
		figures "$work/written.ktau" | cmp - "$work/figures" || rc=1
		page plain "$work/written.ktau" | cmp - "$work/before" || rc=1
		ok $rc "$file, written by libktau, is read by abi_decoder.py ($flags)"
	done
done

# abi_decoder.py writes and libktau reads.
for file in $some; do
	"$build/$tests/records" "$file" >"$work/before"
	for order in little big; do
		for coding in plain delta; do
			rc=0
			page write $order $coding zlib "$file" "$work/written.ktau" || rc=1
			alike "$work/written.ktau" || rc=1
			cmp "$work/page" "$work/before" || rc=1
			ok $rc "$file, from abi_decoder.py, is read by libktau ($order, $coding)"
		done
	done
done

done_testing
