#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ktau mark preloads its library into programs of both word sizes without a message of the dynamic
# loader. The 32-bit program needs no C library, only the dynamic loader.
#
#	[SANITIZER=LIBRARY] tests/unit/tools/test_preload.sh BUILD
#
# The libraries of a build with sanitizers need their runtime, LIBRARY, but the marked programs are
# built without. So it is preloaded as well; the library of ktau mark puts itself first.
# Leaks of these programs are not ours.
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=preload
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ -n "${SANITIZER:-}" ]; then
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0:detect_leaks=0"
fi

# marked COMMAND...: run it as a region. What it writes goes to $tmp/out and $tmp/err.
marked()
{
	LD_LIBRARY_PATH=$build/libktau/user LD_PRELOAD=${SANITIZER:-} \
		"$build/tools/ktau/ktau" mark -n "$tmp" part "$@" \
		>"$tmp/out" 2>"$tmp/err"
}

loader()
{
	grep -c 'ld.so' "$tmp/err"
}

# shellcheck disable=SC2016 # for the marked shell
marked sh -c 'echo ran; echo "${LD_PRELOAD%%:*}" >&2'
same "a 64-bit program runs" "$(cat "$tmp/out")" ran
same "without a message of the loader" "$(loader)" 0
check "the library is preloaded" grep -q 'libktau-mark.so.1$' "$tmp/err"
# shellcheck disable=SC2016 # the loader replaces $LIB
LD_LIBRARY_PATH=$build/libktau/user \
	LD_PRELOAD=$(tail -n 1 "$tmp/err")${SANITIZER:+:$SANITIZER} \
	cat /proc/self/maps >"$tmp/maps" 2>&1
check "and found" grep -q 'libktau-mark.so.1' "$tmp/maps"

cat >"$tmp/p.c" <<'C'
void _start(void)
{
	static const char text[] = "ran\n";

	__asm__ volatile("int $0x80" : : "a"(4), "b"(1), "c"(text), "d"(4) : "memory");
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
C
if [ ! -d "$build/libktau/user/ktau-mark" ] || [ ! -e /lib/ld-linux.so.2 ]; then
	skip "a 32-bit program" "it cannot be run here"
elif ! cc -m32 -fpie -pie -nostdlib -Wl,-dynamic-linker,/lib/ld-linux.so.2 \
		-o "$tmp/p32" "$tmp/p.c" 2>"$tmp/cc"; then
	skip "a 32-bit program" "it cannot be built here"
elif [ "$("$tmp/p32" 2>"$tmp/err")" != ran ]; then
	skip "a 32-bit program" "the kernel does not run it"
else
	marked sh -c "$tmp/p32; $tmp/p32; $tmp/p32"
	same "32-bit programs run" "$(cat "$tmp/out")" "$(printf 'ran\nran\nran')"
	same "without messages of the loader" "$(loader)" 0
	same "and with one of ktau mark at most" "$(wc -l <"$tmp/err" | tr -d ' ')" \
		"$(grep -c '^ktau mark: ' "$tmp/err")"
fi
done_testing
