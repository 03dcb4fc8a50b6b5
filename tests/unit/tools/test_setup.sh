#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/setup on a system whose apt does not know all packages, or would have to remove some: it
# installs the others, and removes nothing. tests/boot/stock names a program that is
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
	[ -z "${SLOW:-}" ] || { sleep 0.02; printf '  Version table:\n'; }
END
stub apt-get <<- 'END'
	[ "$1" = install ] || exit 0
	case " $* " in
	*" ${CONFLICT:-no such package} "*) exit 1 ;;
	esac
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

other=$(sed -n 's/.* --no-remove [^ ]* \([^ ]*\).*/\1/p' "$tmp/log")

setup SLOW=1
check "apt-cache may write the candidate and then more" [ $? -eq 0 ]

setup UNKNOWN="$package"
check "a package that does not exist is an error" [ $? -ne 0 ]
check "it is named" grep -q "does not have them: $package\$" "$tmp/said"
check "the others are installed" grep -q "^apt-get install .*--no-remove $other " "$tmp/log"
check "it is not among them" sh -c "! grep -q '^apt-get install .* $package ' $tmp/log"

setup CONFLICT="$package"
check "a package that excludes another is an error" [ $? -ne 0 ]
check "it is named, and no other" grep -q "for the reasons above: $package\$" "$tmp/said"
check "the others are installed one by one" grep -q "^apt-get install .*--no-remove $other\$" "$tmp/log"

cat > "$tmp/bin/id" <<- 'END'
	#!/bin/sh
	echo 1000
END
chmod +x "$tmp/bin/id"
setup CI=false < /dev/null
check "a user without a terminal gets the command" \
	grep -q "run  sudo apt-get install .*$package .*$other" "$tmp/said"
check "nothing is installed then" sh -c "! grep -q '^apt-get' $tmp/log"

sed -n '/^needs()/,/^}/p' tests/boot/stock > "$tmp/needs"
check "a missing program is named" sh -c "bash -c '
	die() { echo \"\$*\"; exit 1; }
	commands=sh programs=no-such-program
	. $tmp/needs
	needs' | grep -q '^no-such-program: not found'"
done_testing
