#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The installed libktau-legacy from a program's point of view: names, headers, links.
#
# usage: test_legacy_install.sh BUILD_DIRECTORY

set -eu
build=$1
work=$build/tests/unit/libktau/legacy_install
root=$(realpath -m "$work")/root
. tests/tap.sh

rm -rf "$work"
mkdir -p "$work/tau"
lib=$root/usr/lib/here
env -u MAKEFLAGS -u MFLAGS make --no-print-directory -s B="$build" PREFIX=/usr DESTDIR="$root" \
	LIBDIR=/usr/lib/here INCLUDEDIR=/usr/include/here ${CLIENT_CFLAGS:+SAN=1} \
	install-libktau-legacy > /dev/null

# The functions of KTAU that TAU's objects use.
cat > "$work/wanted" << 'END'
aggr_many_profiles
ktau_add_container
ktau_copy_counter_type
ktau_del_container
ktau_diff_profiles
ktau_get_counter
ktau_put_counter
read_data
read_size
unpack_bindata
END
nm -D --defined-only "$lib/libktau-legacy.so.1" | sed -n 's/.* [TWBDR] \([^@]*\)@@KTAU_LEGACY_1.0/\1/p' |
	sort > "$work/exported"
check "the shared library has the ten functions and nothing else" \
	diff "$work/wanted" "$work/exported"
nm -g --defined-only "$build"/libktau/legacy/*.o | awk 'NF == 3 { print $3 }' |
	grep -v '^ktau__' | sort > "$work/static"
check "the static library has the same functions, and ktau__*" diff "$work/wanted" "$work/static"
nm -g --defined-only "$lib/libktau-legacy.a" | awk 'NF == 3 { print $3 }' | sort | uniq -d \
	> "$work/twice"
check "no name of libktau is defined again" diff /dev/null "$work/twice"
nm -D --defined-only "$lib/libktau.so.1" | awk '{ print $3 }' | grep -xFf "$work/wanted" \
	> "$work/legacy" || true
check "libktau has none of them" diff /dev/null "$work/legacy"
same "the shared library's soname" "$(objdump -p "$lib/ktau-legacy/libktau.so" | awk '$1 == "SONAME" { print $2 }')" \
	libktau-legacy.so.1
same "the headers" "$(cd "$root/usr/include/here/ktau-legacy" && find . -type f | sort | xargs)" \
	"./ktau_proc_interface.h ./linux/ktau/ktau_cont_data.h ./linux/ktau/ktau_datatype.h\
 ./linux/ktau/ktau_merge.h ./linux/ktau/ktau_proc_data.h ./linux/ktau/ktau_proc_external.h"

headers_alone()
{
	for header in $(cd "$root/usr/include/here/ktau-legacy" && find . -type f); do
		for compiler in "${CC:-cc} -std=c99 -x c" "${CXX:-c++} -std=gnu++98 -x c++"; do
			# shellcheck disable=SC2086
			echo "#include <$header>" | $compiler -Wall -Wextra -Werror -fsyntax-only \
				"-I$root/usr/include/here/ktau-legacy" - || return 1
		done
	done
}
check "each header compiles alone, in C and in C++" headers_alone

# TAU's own header of this name precedes the library's, and does not declare the counters.
cat > "$work/tau/ktau_proc_interface.h" << 'END'
#ifndef TAU_PROC_INTERFACE_H
#define TAU_PROC_INTERFACE_H
#ifdef __cplusplus
extern "C" {
#endif
#include <linux/ktau/ktau_datatype.h>
#include <linux/ktau/ktau_proc_external.h>
#include <linux/ktau/ktau_proc_data.h>
#define KTAU_PROFILE 0
#define KTAU_TRACE 1
extern long read_size(int, int, pid_t *, unsigned int, unsigned long, unsigned int *, float);
extern long read_data(int, int, pid_t *, unsigned int, char *, unsigned long, unsigned long,
		      unsigned int *);
extern long ktau_set_state(pid_t *, ktau_state *, unsigned int *);
extern long unpack_bindata(int, char *, unsigned long, ktau_output **);
#ifdef __cplusplus
}
#endif
#endif
END

export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$lib/pkgconfig"
export PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
export LD_LIBRARY_PATH="$lib"
cflags=$(pkg-config --cflags ktau-legacy)
private=$(pkg-config --libs --static ktau-legacy | sed 's/.*-lktau-legacy//')

# build WHAT COMPILER LINK...: compile the client and run it. 77: this kernel has no KTAU.
build()
{
	what=$1
	compiler=$2
	shift 2
	# shellcheck disable=SC2086
	check "$what: compiles" $compiler -Wall -Wextra -Werror ${CLIENT_CFLAGS:-} $cflags \
		-o "$work/client" tests/unit/libktau/legacy_client.c -x none "$@"
	rc=0
	"$work/client" > "$work/out" 2>&1 || rc=$?
	check "$what: runs" [ $rc = 0 -o $rc = 77 ]
}

c="${CC:-cc} -x c"
cxx="${CXX:-c++} -x c++"
tau="-I$work/tau -DTAU_MAX_THREADS=128"
# shellcheck disable=SC2046
build "C, by pkg-config" "$c -std=c99" $(pkg-config --libs ktau-legacy)
# shellcheck disable=SC2046
build "C++98, by pkg-config" "$cxx -std=gnu++98" $(pkg-config --libs ktau-legacy)
build "C++98 as TAU has it" "$cxx -std=gnu++98 $tau" "-L$lib/ktau-legacy" \
	"-Wl,-rpath-link,$lib" -lktau
build "C++17 as TAU has it" "$cxx -std=c++17 $tau" "-L$lib/ktau-legacy" \
	"-Wl,-rpath-link,$lib" -lktau
# shellcheck disable=SC2086
build "static, as TAU has it" "$cxx $tau" "$lib/ktau-legacy/libktau.a" $private -lpthread

# The words of a call of configure
configure_words()
{
	sed -n '/configure -ktau/,/useropt/ { s/\\e\{0,1\}$//; p }' "$1" | xargs -n1
}
configure_words docs/user/tau.md > "$work/page"
configure_words libktau/legacy/ktau-legacy.7 > "$work/manual"
check "both pages configure TAU in the same way" diff "$work/page" "$work/manual"

sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' libktau/legacy/ktau-legacy.7 | sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' \
	-e 's/\\e/\\/g' > "$work/example.c"
# shellcheck disable=SC2046,SC2086
check "the example of the manual page compiles" ${CC:-cc} -Wall -Wextra -Werror ${CLIENT_CFLAGS:-} \
	-o "$work/example" "$work/example.c" $(pkg-config --cflags --libs ktau-legacy)
done_testing
