#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare the tables of docs/abi.md with the headers: the size of every structure and
# the offset of every field. The compiler does the comparison. ktau(7) has the groups of
# their list, in its order.
#
# usage: test_abi.sh BUILD_DIRECTORY

set -eu
work=$1/tests/unit/libktau
page=docs/abi.md
set -- kernel-ext/include/uapi/linux/ktau.h libktau/include/ktau_file.h
rc=0

# shellcheck disable=SC2016
awk -F'|' '
BEGIN { print "#include <stddef.h>\n#include <ktau_file.h>" }
/^### struct / {
	name = $0
	sub(/^### struct /, "", name)
	size = name
	sub(/ .*/, "", name)
	gsub(/.*\(| bytes\)/, "", size)
	printf "_Static_assert(sizeof(struct %s) == %s, \"size of %s\");\n", name, size, name
}
$2 ~ /^ [0-9]+ $/ && $3 ~ /^ (struct )?[a-z][a-z0-9_]*(\[[0-9]+\])? $/ && $4 ~ /^ `[a-z_0-9]+` $/ {
	field = $4
	gsub(/[ `]/, "", field)
	printf "_Static_assert(offsetof(struct %s, %s) == %d, \"%s.%s\");\n",
	       name, field, $2, name, field
}' $page >"$work/abi.c"

structures=$(grep -c sizeof "$work/abi.c")
fields=$(grep -c offsetof "$work/abi.c")
${CC:-cc} -std=c11 -Ilibktau/include -Ikernel-ext/include/uapi -fsyntax-only "$work/abi.c" || rc=1

# No structure is missing.
sed -n 's/^struct \(ktau_[a-z_]*\) {$/\1/p' "$@" >"$work/abi.names"
while read -r name; do
	grep -q "sizeof(struct $name)" "$work/abi.c" || { echo "$name: no table"; rc=1; }
done <"$work/abi.names"
declared=$(sed -n '/^struct ktau_.* {$/,/^};/p' "$@" |
	grep -cE '^	+(__|char |struct )[a-z_0-9 ]+(\[[0-9A-Z_]+\])?;')
[ "$declared" -eq "$fields" ] || { echo "$fields fields of $declared"; rc=1; }

listed=$(sed -n 's/^KTAU_GROUP([A-Z0-9_]*, \([a-z0-9_]*\),.*/\1/p' \
	kernel-ext/include/uapi/linux/ktau_groups.h)
described=$(sed -n '/^\.Em groups ,$/,/^\.El$/s/^\.It //p' libktau/ktau.7)

. tests/tap.sh
same "$structures structures, $fields fields of $page" $rc 0
same "the groups of ktau(7)" "$described" "$listed"
done_testing
