#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/setup on a system whose apt does not know all packages, or would have to remove some:
# nothing is installed then, and nothing is ever removed. tests/boot/stock names a program that is
# missing.
set -u
. tests/tap.sh
tap_prefix=setup

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin"

# stub NAME: a program that logs its arguments and does what is on standard input.
stub()
{
	{
		printf '#!/bin/sh\necho "%s $*" >> %s/log\n' "$1" "$tmp"
		cat
	} > "$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

stub dpkg-query < /dev/null
stub sudo <<- 'END'
	exec "$@"
END
stub apt-cache <<- 'END'
	[ "$2" = "${UNKNOWN:-}" ] && exit 0
	printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$2"
END
stub apt-get <<- 'END'
	[ "$1" != install ] || [ -z "${CONFLICT:-}" ]
END

# setup VARIABLE=VALUE: run tests/setup with stubs.
setup()
{
	: > "$tmp/log"
	env PATH="$tmp/bin:$PATH" CI=true "$@" tests/setup user > "$tmp/said" 2>&1
}

setup X=
check "known packages are installed" [ $? -eq 0 ]
check "no package is removed for them" grep -q '^apt-get install .*--no-remove' "$tmp/log"
package=$(sed -n 's/.* --no-remove \([^ ]*\).*/\1/p' "$tmp/log")

setup UNKNOWN="$package"
check "a package that does not exist is an error" [ $? -ne 0 ]
check "it is named" grep -q "no package $package; nothing is installed" "$tmp/said"
check "no other one is installed" [ "$(grep -c '^apt-get install' "$tmp/log")" -eq 0 ]

setup CONFLICT=1
check "packages that exclude others are an error" [ $? -ne 0 ]
check "that is the message" grep -q 'without removing others' "$tmp/said"

sed -n '/^needs()/,/^}/p' tests/boot/stock > "$tmp/needs"
check "a missing program is named" sh -c "bash -c '
	die() { echo \"\$*\"; exit 1; }
	commands=sh programs=no-such-program
	. $tmp/needs
	needs' | grep -q '^no-such-program: not found'"
done_testing
