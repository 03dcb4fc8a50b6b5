#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare the tables of docs/dev/abi.md with the headers: the size of every structure, the
# offset of every field, and the value of every number with a name. The compiler does the
# comparison. The tables of records and slots have the types and fields of <ktau_fields.h>.
# ktau(7) has the groups of their list, in its order.
#
# usage: test_abi.sh BUILD_DIRECTORY

set -eu
work=$1/tests/unit/libktau
page=docs/dev/abi.md
set -- kernel-ext/include/uapi/linux/ktau.h kernel-ext/include/uapi/linux/ktau_area.h \
	kernel-ext/include/uapi/linux/ktau_references.h libktau/include/ktau_file.h
rc=0

# shellcheck disable=SC2016
awk -F'|' '
BEGIN {
	print "#include <stddef.h>\n#include <ktau_file.h>\n#include <linux/ktau_area.h>"
	print "#include <linux/ktau_references.h>"
}
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
}
# Tables of numbers: | `NAME` | NUMBER | text |, or | field | NUMBER | `NAME`: text |
$3 ~ /^ ([0-9]+|0x[0-9a-f]+) $/ && match($2 ~ /^ `KTAU_/ ? $2 : $4, /^ `KTAU_[A-Z0-9_]+`/) {
	number = substr($2 ~ /^ `KTAU_/ ? $2 : $4, RSTART + 2, RLENGTH - 3)
	printf "_Static_assert(%s == %s, \"%s\");\n", number, $3, number
}' $page >"$work/abi.c"

structures=$(grep -c sizeof "$work/abi.c")
fields=$(grep -c offsetof "$work/abi.c")
numbers=$(grep -c '(KTAU_' "$work/abi.c")
${CC:-cc} -std=c11 -Ilibktau/include -Ikernel-ext/include/uapi -fsyntax-only "$work/abi.c" || rc=1

# No structure is missing.
sed -n 's/^struct \(ktau_[a-z_]*\) {$/\1/p' "$@" >"$work/abi.names"
while read -r name; do
	grep -q "sizeof(struct $name)" "$work/abi.c" || { echo "$name: no table"; rc=1; }
done <"$work/abi.names"
declared=$(sed -n '/^struct ktau_.* {$/,/^};/p' "$@" |
	grep -cE '^	+(__|char |struct )[a-z_0-9 ]+(\[[0-9A-Z_]+\])?;')
[ "$declared" -eq "$fields" ] || { echo "$fields fields of $declared"; rc=1; }

# No number of these families is missing.
families='ORIGIN ACCESS KIND SOURCE REC OWNER TRACE CTX NET TARGET SELECT FEATURE COMPRESS ENCODE AREA REFERENCE MAP SPACE'
not_in_tables='KTAU_(KIND_.*|OWNER_(IDLE|KTHREAD|FOLDED|NAMED)|REC_USER|.*_(VALID|SIZE_VER0))'
for family in $families; do
	sed -nE "s/^#define (KTAU_${family}_[A-Z0-9_]+)[ 	].*/\\1/p" "$@"
done | grep -vxE "$not_in_tables" >"$work/abi.names"
while read -r name; do
	grep -q "($name == " "$work/abi.c" || { echo "$name: not in a table"; rc=1; }
done <"$work/abi.names"

# The types of records and slots and the fields of structures, by the page and by the list.
# shellcheck disable=SC2016
awk -F' *[|] *' '
/^### struct / { name = $0; sub(/^### struct /, "", name); sub(/ .*/, "", name); next }
/^#/ { name = "" }
match($2, /^`KTAU_(REC|TRACE)_[A-Z_]+`$/) {
	split($4, payload, " ")
	gsub(/`/, "", $2)
	print $2, $2 ~ /^KTAU_TRACE/ ? payload[1] == "struct" ? payload[2] : "words" : ""
}
name ~ /^ktau_(rec_.*|slot.*|entry|open)$/ && $2 ~ /^[0-9]+$/ && $4 ~ /^`/ {
	gsub(/`/, "", $4)
	sub(/^struct ktau_/, "", $3)
	print name, $3, $4
}' $page | sed 's/ *$//' | sort >"$work/abi.page"
${CC:-cc} -Ilibktau/include -E -P - <<'END' | sed -E 's/ (u8|char)_([0-9]+) / \1[\2] /; /^$/d' |
#define KTAU_FIELD(structure, type, field) structure type field
#define KTAU_ALIAS(structure, type, field, first) structure type field
#define KTAU_RECORD(type, structure, word) KTAU_REC_##type
#define KTAU_SLOT(type, structure, word) KTAU_TRACE_##type structure
#define KTAU_WORDS(type, text) KTAU_TRACE_##type words
#include <ktau_fields.h>
END
	sort >"$work/abi.list"
lines=$(wc -l <"$work/abi.list")
by_page=$(diff "$work/abi.page" "$work/abi.list" || true)

listed=$(sed -n 's/^KTAU_\(TASK_\)*GROUP([A-Z0-9_]*, \([a-z0-9_]*\),.*/\2/p' \
	kernel-ext/include/uapi/linux/ktau_groups.h)
described=$(sed -n '/^\.Em groups ,$/,/^\.El$/s/^\.It //p' libktau/ktau.7)

. tests/tap.sh
same "$structures structures, $fields fields, $numbers numbers of $page" $rc 0
same "$lines types and fields of <ktau_fields.h>" "$by_page" ""
same "the groups of ktau(7)" "$described" "$listed"
done_testing
