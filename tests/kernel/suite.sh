# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Debian's suites besides those in the lists of this machine. Scripts source this file from
# the top folder, after tests/lib.sh.

# source_suite VERSION: the suite that has linux-source-VERSION; nothing if it is in the lists
# of Debian 12.
source_suite()
{
	case $1 in
	7.3) echo trixie-backports ;;
	esac
}

# The mirror of the distribution itself, from either format of apt's lists.
mirror()
{
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources 2>/dev/null |
	grep -oE '^(deb |URIs:).*https?://[^ ]+' | grep -oE 'https?://[^ ]+/debian/?( |$)' |
	tr -d ' ' | head -n 1
}

# apt_config FOLDER SUITE: make FOLDER an apt configuration that has only this suite. With
# APT_CONFIG=FOLDER/apt.conf, apt keeps its lists and downloads there.
apt_config()
{
	local apt=$1 suite=$2 key=/usr/share/keyrings/debian-archive-keyring.gpg url

	url=$(mirror) || :
	[ -n "$url" ] || die "no mirror of Debian in the lists below /etc/apt"
	[ -r "$key" ] || die "cannot read $key: install debian-archive-keyring"
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
	echo "deb [signed-by=$key] $url $suite main" > "$apt/sources.list"
	cat > "$apt/apt.conf" <<-END
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "";
		Dir::State "$apt/state";
		Dir::Cache "$apt/cache";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "$apt/parts";
		Dir::Etc::preferencesparts "$apt/parts";
		Dir::State::status "/var/lib/dpkg/status";
	END
}
