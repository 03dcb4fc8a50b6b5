#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What make builds without some of the libraries, what it says, and that it installs what was built.
set -u
. tests/tap.sh
tap_prefix="make"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin"
cat > "$tmp/bin/pkg-config" <<- 'END'
	#!/bin/sh
	case "$*" in
	*sqlite3 | *'libbpf >= 1.0') exit 1 ;;
	esac
END
chmod +x "$tmp/bin/pkg-config"

# run ARGUMENT...: make in a folder of its own; the output is in $tmp/said
run()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make B="$tmp/build" "$@" > "$tmp/said" 2>&1
}

PATH=$tmp/bin:$PATH run -n
tail -n 5 "$tmp/said" > "$tmp/end"
check "what is left out is said at the end" grep -q "^printf .*'Built without:'" "$tmp/end"
check "it names the part and the package" grep -q '  ktau export --sqlite: libsqlite3-dev' "$tmp/end"
check "all packages are in one command" grep -q 'apt-get install [^;]*libbpf-dev [^;]*libsqlite3-dev' "$tmp/end"
check "once" [ "$(grep -c 'Built without:' "$tmp/said")" -eq 1 ]
check "all programs are also in bin" grep -qE "ln -s .*\.\./tools/ktau/ktau .*$tmp/build/bin" "$tmp/said"

PATH=$tmp/bin:$PATH run -n HAVE_SQLITE=n HAVE_BPF=n
check "what is disabled by hand is not missing" sh -c "! grep -qE 'libsqlite3-dev|libbpf-dev' $tmp/said"

PATH=$tmp/bin:$PATH run "$tmp/build/options.mk"
run -n install
check "an install needs the libraries of the build" grep -q 'libktau-nobpf\.a' "$tmp/said"
check "and no others" sh -c "! grep -q -e -lsqlite3 -e ktau.bpf.c $tmp/said"
run -n install HAVE_SQLITE=y
check "unless others are requested" grep -q -e -lsqlite3 "$tmp/said"

run CPPFLAGS=-nostdinc
check "without zlib, make fails" [ $? -ne 0 ]
check "it names the packages instead of a header" sh -c "grep -q 'apt-get install.* zlib1g-dev' $tmp/said &&
	! grep -q 'zlib\.h: No such file' $tmp/said"
done_testing
