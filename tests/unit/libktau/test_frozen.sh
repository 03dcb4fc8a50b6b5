#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The interfaces of kernel, files and libraries only grow: numbers and fields of the headers, and
# functions and types of the libraries, are what tests/unit/libktau/data/frozen has recorded.
#
#	tests/unit/libktau/test_frozen.sh BUILD
#
# KTAU_FROZEN=write records what has been added, and a file of that folder that has been removed.
# After the first release none is removed.
set -u
build=$1
work=$build/tests/unit/libktau/frozen
data=tests/unit/libktau/data/frozen
. tests/tap.sh
tap_prefix=frozen

uapi='ktau ktau_area ktau_references'
# shellcheck disable=SC2086
headers="$(printf 'kernel-ext/include/uapi/linux/%s.h ' $uapi) libktau/include/ktau_file.h
	libktau/include/ktau_writer.h"
# Bounds of what is known, which grow
growing='KTAU_(NR_SOURCES|TARGET_VALID|SELECT_VALID|GROUP_ALL)'
mkdir -p "$work"

writes()
{
	[ "${KTAU_FROZEN:-}" = write ]
}

compile()
{
	${CC:-cc} -std=gnu11 -Ilibktau/include -Ikernel-ext/include/uapi -Werror "$@"
}

includes()
{
	printf '#include <stddef.h>\n#include <stdio.h>\n#include <ktau.h>\n'
	# shellcheck disable=SC2086
	printf '#include <linux/%s.h>\n' $uapi
}

# fields: STRUCTURE TYPE FIELD BOUND for each field; BOUND is empty or [NUMBER]
fields()
{
	# shellcheck disable=SC2086
	awk '
	/^struct ktau_[a-z_]+ \{/ { name = $2; next }
	/^};/ { name = "" }
	name && match($0, /^\t+(__|char |struct )[a-z_0-9 ]+(\[[0-9A-Z_]+\])?;/) {
		n = split(substr($0, RSTART, RLENGTH - 1), word, " ")
		bound = field = word[n]
		sub(/\[.*/, "", field)
		sub(/^[^[]*/, "", bound)
		print name, (n == 3 ? word[1] "_" word[2] : word[1]), field, bound
	}' $headers
}

# numbers: the names of all numbers
numbers()
{
	# shellcheck disable=SC2086
	sed -nE 's/^#define (KTAU_[A-Z0-9_]+)[[:space:]]+[^[:space:]].*/\1/p' $headers |
		grep -vxE "$growing"
	sed -nE 's/^KTAU_(TASK_)?GROUP\(([A-Z]+),.*/KTAU_GROUP_\2/p' \
		kernel-ext/include/uapi/linux/ktau_groups.h
}

# describe: a program that prints the list
describe()
{
	includes
	echo 'int main(void) {'
	fields | while read -r structure type field bound; do
		[ "$structure" = "${last:-}" ] ||
			printf 'printf("SIZE(%s, %%zu)\\n", sizeof(struct %s));\n' "$structure" "$structure"
		last=$structure
		printf 'printf("FIELD(%s, %s%s, %s, %%zu)\\n", offsetof(struct %s, %s));\n' "$structure" \
			"$(echo "$type" | sed 's/^struct_/struct /')" "$bound" "$field" "$structure" "$field"
	done
	numbers | while read -r name; do
		printf 'printf("NUMBER(%s, %%llu)\\n", (unsigned long long)(%s));\n' "$name" "$name"
	done
	echo '}'
}

describe > "$work/describe.c"
compile -o "$work/describe" "$work/describe.c" && "$work/describe" > "$work/interface"
if writes && [ ! -e "$data/interface" ]; then
	cp "$work/interface" "$data"
fi

# A name that is gone is an error of the compiler, which has it.
{
	includes
	cat <<- 'END'
		#define SIZE(structure, bytes) _Static_assert(sizeof(struct structure) >= (bytes), \
			#structure " is smaller than " #bytes " bytes");
		#define FIELD(structure, type, field, at) \
			_Static_assert(offsetof(struct structure, field) == (at), \
				#structure "." #field " is not at byte " #at); \
			_Static_assert(__builtin_types_compatible_p(type, \
				__typeof__(((struct structure *)0)->field)), \
				#structure "." #field " is not a " #type);
		#define NUMBER(name, value) _Static_assert((unsigned long long)(name) == value##U, \
			#name " is not " #value);
	END
	cat "$data/interface"
} > "$work/interface.c"
if compile -fsyntax-only "$work/interface.c" 2> "$work/said"; then
	pass "fields and numbers of the headers are those recorded"
	! writes || cp "$work/interface" "$data"
else
	fail "fields and numbers of the headers are those recorded" \
		"$(sed -n 's/.*error: static assertion failed: //p; s/.*error: //p' "$work/said")"
fi

# The sizes may grow and are compared above.
sed 's/^\(SIZE(.*\), .*/\1)/' "$data/interface" | sort > "$work/recorded"
sed 's/^\(SIZE(.*\), .*/\1)/' "$work/interface" | sort > "$work/present"
same "those that have been added are recorded, with KTAU_FROZEN=write $0" \
	"$(comm -13 "$work/recorded" "$work/present")" ""

# typed LIBRARY: it says what its types are. clang has other names for those of 128 bits.
typed()
{
	readelf -SW "$1" | grep -q '\.debug_info' && ! readelf -p .comment "$1" | grep -q clang
}

# differs LIBRARY ABI [OPTION]: abidiff says in what
differs()
{
	# shellcheck disable=SC2086
	! abidiff --no-show-locs --suppressions "$data/growth.abignore" ${3:-} "$2" "$1" \
		> "$work/said" 2>&1
}

# record LIBRARY ABI FOLDERS
record()
{
	# shellcheck disable=SC2046,SC2086
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
		--no-parameter-names --exported-interfaces-only --drop-private-types \
		--drop-undefined-syms $(printf -- '--hd %s ' $3) --out-file "$2" "$1"
}

# library NAME FOLDERS: compare build/libktau/NAME.so.1, whose headers are in FOLDERS, with what was
# recorded.
library()
{
	so=$(realpath "$build/libktau/$1.so.1")
	abi=$data/${1##*/}.abi
	if [ -z "${CI:-}" ] && ! command -v abidiff > /dev/null; then
		skip "${1##*/}" "abigail-tools is not installed"
	elif [ ! -e "$so" ]; then
		skip "${1##*/}" "it is not built"
	elif [ "$(uname -m)" != x86_64 ] || ! typed "$so"; then
		skip "${1##*/}" "what was recorded is by gcc -g on x86-64"
	else
		if writes && { [ ! -e "$abi" ] || ! differs "$so" "$abi" --no-added-syms; }; then
			record "$so" "$abi" "$2"
		fi
		what="functions and types of ${1##*/} are those recorded"
		if differs "$so" "$abi"; then
			fail "$what" "$(cat "$work/said")"
		else
			pass "$what"
		fi
	fi
}

library libktau 'libktau/include kernel-ext/include/uapi/linux'
library user/libktau-user libktau/user
library legacy/libktau-legacy libktau/legacy/include
done_testing
