#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion in bash and zsh, through each shell's own interface.
#
#	tests/unit/tools/test_completion.sh BUILD
set -u
build=$1
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=completion

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ktau=$build/tools/ktau/ktau

# completed WORD...: bash's completions of the last word, sorted, in one line
completed()
{
	# shellcheck disable=SC2016 # expanded by the tested shell
	env -i PATH="$PATH" bash --norc -c '
		compopt() { :; }
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_ktau
		printf "%s\n" "${COMPREPLY[@]}"' bash "$tmp/ktau" "$@" | sort | tr '\n' ' ' |
		sed 's/ $//'
}

in_bash()
{
	local name

	"$ktau" --completion=bash > "$tmp/ktau"
	check "bash: the script has no syntax error" bash -n "$tmp/ktau"
	same "bash: commands" "$(completed ktau re)" "record regions report"
	for name in tools/ktau/commands/ktau-*.c; do
		name=${name#tools/ktau/commands/ktau-}
		name=${name%.c}
		check "bash: $name has options" grep -q -- --version \
			<<< "$(completed ktau "$name" --)"
	done
	same "bash: options" "$(completed ktau report --ta)" "--tables= --tag="
	same "bash: no options of another command" "$(completed ktau check --ta)" ""
	same "bash: a format of export" "$(completed ktau export --perf)" "--perfetto"
	same "bash: arguments" "$(completed ktau report --by = c)" "cgroup"
	same "bash: built-in views" "$(completed ktau report --view = m)" "mpi"
	: > "$tmp/own.view"
	same "bash: a view or its file" \
		"$(cd "$tmp" && ln -sf . w && completed ktau view w)" "w waits"
	same "bash: a file after the view" "$(cd "$tmp" && completed ktau view waits w)" "w"
	same "bash: the file of a view" "$(completed ktau report --view = "$tmp/ow")" \
		"$tmp/own.view"
	same "bash: arguments depend on the command" \
		"$(completed ktau top --by = '')" "cgroup name pid user"
	: > "$tmp/file.ktau"
	same "bash: files" "$(completed ktau dump "$tmp/fi")" "$tmp/file.ktau"
}

# arguments COMMAND OPTION: what the parser of OPTION says that its argument can be, sorted, in one
# line; nothing if that is no list of words. The second option keeps the command from running.
arguments()
{
	"$ktau" "$1" "$2=@@" --no-such-option 2>&1 < /dev/null |
		sed -n 's/.*=@@: not //p' | grep -Ex '[a-z0-9_-]+(, [a-z0-9_-]+)* or [a-z0-9_-]+' |
		sed 's/, / /g; s/ or / /' | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//'
}

# What is completed is what the parsers accept.
arguments_are_completed()
{
	local name option words nr=0

	for name in $(completed ktau ''); do
		for option in $(completed ktau "$name" -- | tr ' ' '\n' | sed -n 's/^\(--.*\)=$/\1/p'); do
			words=$(arguments "$name" "$option")
			[ "$words" ] || continue
			nr=$((nr + 1))
			same "bash: $name $option" "$(completed ktau "$name" "$option" = '')" "$words"
		done
	done
	check "most options with a list of words have said so ($nr)" test "$nr" -ge 25
	words=$("$ktau" pages merge --type=list | sed 's/ .*//'; echo list)
	same "bash: outputs of ktau pages merge" "$(completed ktau pages --type = '')" \
		"$(sort <<< "$words" | tr '\n' ' ' | sed 's/ $//')"
	same "bash: formats of all verbs of ktau pages" "$(completed ktau pages --format = '')" \
		"binary csv json text"
	words=$("$ktau" report --help | tr -s ' \n' ' ' | grep -o 'Show account, [a-z_, ]* or all' |
		sed 's/^Show //; s/, / /g; s/ or / /' | tr ' ' '\n' | sort | tr '\n' ' ')
	same "bash: tables of ktau report" "$(completed ktau report --tables = '') " "$words"
	for option in $words; do
		check "report has the table $option" test -z \
			"$("$ktau" report --tables="$option" --nothing 2>&1 | grep 'no such table')"
	done
}

# An interactive zsh with its completion system.
in_zsh()
{
	"$ktau" --completion=zsh > "$tmp/_ktau"
	command -v zsh > /dev/null || {
		skip "zsh" "zsh is not installed"
		return
	}
	command -v tmux > /dev/null || {
		skip "zsh" "tmux is not installed"
		return
	}
	check "zsh: the script has no syntax error" zsh -n "$tmp/_ktau"
	cat > "$tmp/.zshrc" <<- END
		PS1='%% '
		unsetopt zle_bracketed_paste
		fpath=($tmp \$fpath)
		autoload -Uz compinit && compinit -u -d $tmp/dump
	END
	ln -sf "$(realpath "$ktau")" "$tmp/ktau-program"
	ZDOTDIR=$tmp LC_ALL=C.UTF-8 tmux -S "$tmp/tmux" -f /dev/null new-session -d -x 150 -y 50 \
		"PATH=$(realpath "$(dirname "$ktau")"):\$PATH zsh -i"
	shows '^%'
	offers "zsh: commands" 'ktau re' 'report +-- show how long each process'
	offers "zsh: options" 'ktau report --sub' 'ktau report --subtract'
	offers "zsh: arguments" 'ktau report --by=cg' 'ktau report --by=cgroup'
	offers "zsh: formats of export" 'ktau export --perf' 'ktau export --perfetto'
	tmux -S "$tmp/tmux" kill-server
}

# shows PATTERN: wait until the screen has it
shows()
{
	local try

	for try in $(seq 100); do
		tmux -S "$tmp/tmux" capture-pane -p > "$tmp/screen"
		grep -Eq -e "$1" "$tmp/screen" && return
		[ "$try" -eq 100 ] || sleep 0.05
	done
	cat "$tmp/screen"
	return 1
}

# offers WHAT TYPED SHOWN: type TYPED and a tab; the screen must have SHOWN
offers()
{
	tmux -S "$tmp/tmux" send-keys C-u
	tmux -S "$tmp/tmux" send-keys -l "$2"
	tmux -S "$tmp/tmux" send-keys Tab
	check "$1" shows "$3"
}

in_bash
arguments_are_completed
in_zsh
done_testing
