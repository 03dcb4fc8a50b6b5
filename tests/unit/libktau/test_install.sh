#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The installed library from a user's point of view: the symbol map, the manual pages,
# pkg-config, the example of each page of section 3, compiled and run, completion, and
# uninstallation.
#
# usage: test_install.sh BUILD_DIRECTORY

set -eu
build=$1
work=$build/tests/unit/libktau/install
root=$work/root
. tests/tap.sh

ok() {
	if [ "$1" -eq 0 ]; then
		pass "$2"
	else
		fail "$2"
	fi
}

rm -rf "$work"
mkdir -p "$work"
# Other directories than the default ones, to detect hard-coded paths.
lib=$root/usr/lib/here
include=$root/usr/include/here
staged() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory -s B="$build" PREFIX=/usr \
		DESTDIR="$(realpath "$work")/root" LIBDIR=/usr/lib/here \
		INCLUDEDIR=/usr/include/here ${EXAMPLE_CFLAGS:+SAN=1} "$@" >/dev/null
}

staged install

# exports LIBRARY HEADER...: it exports exactly the functions that its headers declare.
exports() {
	library=$1
	shift
	printf '#include <%s>\n' "$@" >"$work/declared.c"
	gcc -I"$include" -fsyntax-only -aux-info "$work/declared.x" "$work/declared.c"
	sed -n 's/.* extern .*[ *]\(ktau_[a-z0-9_]*\) (.*/\1/p' "$work/declared.x" |
		sort -u >"$work/declared"
	nm -D --defined-only "$lib/$library" | sed -n 's/.* [TW] \([^@]*\)@.*/\1/p' |
		sort -u >"$work/exported"
	diff "$work/declared" "$work/exported"
}

rc=0
exports libktau-user.so.1 ktau_user.h || rc=1
[ "$(wc -l <"$work/exported")" -eq 17 ] || rc=1
ok $rc "libktau-user exports exactly the declared functions"
rc=0
# shellcheck disable=SC2046
exports libktau.so.1 $(cd "$include" && find ktau*.h ! -name ktau_user.h) || rc=1
[ "$(wc -l <"$work/exported")" -gt 90 ] || rc=1
ok $rc "the library exports exactly the declared functions"

rc=0
while read -r name; do
	page=$root/usr/share/man/man3/$name.3
	grep -qs "^\.Fo $name$" "$page" || { echo "$name: no manual page"; rc=1; }
done <"$work/exported"
ok $rc "man finds every exported function by its name"

rc=0
nm -D --defined-only "$lib/libktau.so.1" | grep -vE ' (ktau_[a-z]|KTAU_1)' && rc=1
# The address sanitizer marks each global variable with a symbol of its own.
nm -g --defined-only "$lib/libktau.a" | grep -E '^[0-9a-f]+ ' |
	grep -vE ' (__odr_asan\.)?ktau_' && rc=1
ok $rc "all exported names begin with ktau_"

rc=0
objdump -p "$lib/libktau.so" | grep -q 'SONAME *libktau.so.1$' || rc=1
ok $rc "the shared library has the right soname"

# example PAGE: extract its complete program, and compile it with the command in its first line.
example() {
	name=$(basename "$1" .3)
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$1" |
		sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' -e 's/\\e/\\/g' >"$work/$name.c"
	# shellcheck disable=SC2016,SC2046,SC2086 # the word of pkg-config is expanded by no shell
	${CC:-cc} -Wall -Wextra -Werror ${EXAMPLE_CFLAGS:-} -o "$work/$name" "$work/$name.c" \
		$(pkg-config $(sed -n '1s/.*\$(pkg-config \(.*\)).*/\1/p' "$work/$name.c"))
}

export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$lib/pkgconfig"
export PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1

rc=0
version=$(tools/version)
for name in libktau libktau-user; do
	[ "$(pkg-config --modversion $name)" = "$version" ] || { echo "$name.pc"; rc=1; }
done
find "$root/usr/share/man" -type f -exec grep -LE "^\.(TH .* \"|Os )KTAU $version(\"|\$)" {} + |
	grep . && rc=1
ok $rc "pkg-config and the footers of the manual pages have the version"

for page in libktau/*.3 libktau/user/*.3; do
	rc=0
	example "$page" || rc=1
	ok $rc "the example of $(basename "$page" .3)(3) compiles with pkg-config"
done

export LD_LIBRARY_PATH="$lib"
"$build/tests/unit/libktau/sample" "$work/s.ktau"
rc=0
"$work/libktau" "$work/s.ktau" >"$work/out" || rc=1
grep -q 'excl us' "$work/out" || rc=1
[ "$(grep -c ' (unnamed)$' "$work/out")" -eq 4 ] || rc=1
ok $rc "the example reads a file"

rc=0
head -c 700 "$work/s.ktau" >"$work/cut.ktau"
if "$work/libktau" "$work/cut.ktau" >/dev/null 2>"$work/err"; then rc=1; fi
grep -q 'cut.ktau: truncated at byte' "$work/err" || rc=1
ok $rc "the example reports the damage of a damaged file"

# example_prints PATTERN PAGE ARGUMENT...: it succeeds, and a line of its output matches.
example_prints() {
	pattern=$1
	page=$2
	shift 2
	rc=0
	"$work/$page" "$@" >"$work/out" || rc=1
	grep -qE "$pattern" "$work/out" || { cat "$work/out"; rc=1; }
	ok $rc "the example of $page(3) works"
}

example_prints '^0 slots$' ktau_check "$work/s.ktau"
example_prints '.' ktau_names "$work/s.ktau" '*'
example_prints '^[0-9]+ .' ktau_reader "$work/s.ktau"
example_prints ' ns ENTER$' ktau_record tests/unit/tools/data/recorded.ktau
example_prints ': [0-9]+ events$' ktau_snapshot "$work/s.ktau"
example_prints '\+0x0$' ktau_symtab tests/unit/tools/data/maps/good.map \
	"$(awk '$2 == "T" { print $1; exit }' tests/unit/tools/data/maps/good.map)"
example_prints '.' libktau-user

# The shells find the installed completion, and it works.
rc=0
# shellcheck disable=SC2016 # expanded by the tested shell
bash --norc -c '. "$1"; complete -p ktau; COMP_WORDS=(ktau re); COMP_CWORD=1; _ktau
	printf "%s\n" "${COMPREPLY[@]}" | sort | xargs' bash \
	"$root/usr/share/bash-completion/completions/ktau" >"$work/completed" 2>&1 || rc=1
grep -q '^complete .*-F _ktau ktau$' "$work/completed" || rc=1
grep -qx 'record regions report' "$work/completed" || { cat "$work/completed"; rc=1; }
ok $rc "bash completes by the installed script"

if command -v zsh >/dev/null; then
	# shellcheck disable=SC2016 # expanded by the tested shell
	zsh -f -c 'fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D
		print $_comps[ktau]; autoload +X -Uz _ktau && print loaded' zsh \
		"$root/usr/share/zsh/site-functions" >"$work/completed" 2>&1
	rc=0
	[ "$(xargs <"$work/completed")" = "_ktau loaded" ] || { cat "$work/completed"; rc=1; }
	ok $rc "zsh finds the installed script"
else
	skip "zsh finds the installed script" "zsh is not installed"
fi

# Files that existed before, and edited ones, are kept.
rc=0
echo mine >"$root/usr/lib/here/libmine.so"
echo "# edited" >>"$root/etc/ktaud.conf"
staged uninstall
(cd "$root" && find . ! -type d | sort) >"$work/left"
printf '%s\n' ./etc/ktaud.conf ./usr/lib/here/libmine.so | diff - "$work/left" || rc=1
ok $rc "uninstall removes the installed files, and nothing else"

done_testing
