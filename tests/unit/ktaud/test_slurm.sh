#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Slurm's Prolog and Epilog, with stand-ins for Slurm's and KTAU's programs.
#
#	tests/unit/ktaud/test_slurm.sh
set -u
# shellcheck source=tests/tap.sh
. tests/tap.sh
tap_prefix=slurm
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
state=$tmp/state
mkdir -p "$tmp/bin" "$tmp/etc/init.d" "$tmp/work"

# stand_in PATH: an executable script, from standard input
stand_in()
{
	{
		echo '#!/bin/sh'
		cat
	} > "$tmp/$1"
	chmod 755 "$tmp/$1"
}

echo "echo \"\$*\" >> '$tmp/log'" | stand_in bin/logger
echo "cat '$tmp/jobs'" | stand_in bin/scontrol
echo '[ "$*" = "control profile=on" ] || echo groups=all' | stand_in bin/ktau
# As an ordinary user, too
# shellcheck disable=SC2016 # expanded by the stand-in
echo 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"' | stand_in bin/setpriv
# A ktaud runs as long as the file "running" is there.
stand_in etc/init.d/ktaud <<- 'END'
	dir=${KTAUD_PIDFILE%/*}
	case $1 in
	start) : > "$dir/running" && : > "$dir/node-1.ktau" ;;
	stop) [ ! -e "$dir/stuck" ] && rm -f "$dir/running" ;;
	status) [ -e "$dir/running" ] || exit 3 ;;
	esac
	status=$?
	echo "$1 ${dir##*/}" >> "${0%/etc/*}/calls"
	exit $status
END
for part in prolog epilog; do
	sed -e "s|@SYSCONFDIR@|$tmp/etc|" -e "s|@BINDIR@|$tmp/bin|" -e "s|^PATH=|&$tmp/bin:|" \
		"ktaud/slurm/$part.in" > "$tmp/$part"
done

# slurm PART JOB [UID]: run the Prolog or Epilog of a job
slurm()
{
	: > "$tmp/log"
	: > "$tmp/calls"
	SLURM_JOB_ID=$2 SLURM_JOB_UID=${3-$(id -u)} KTAUD_SLURM_STATE=$state sh "$tmp/$1"
	same "status of the $1 of job $2" $? 0
}

# record JOB FIELD...: a job as scontrol shows it
record()
{
	printf 'JobId=%s JobName=x\n' "$1"
	shift
	printf '   %s\n' "$@"
	echo
}

test_job()
{
	printf 'sample_period 10' > "$tmp/etc/ktaud-slurm.conf"
	slurm prolog 7
	same "the settings of the job" "$(tr '\n' ';' < "$state/7/conf" | sed 's/;;*/;/g')" \
		"sample_period 10;job 7;uid $(id -u);output_dir $state/7;"
	record 7 "WorkDir=$tmp" "StdOut=$tmp/work/slurm-7.out" > "$tmp/jobs"
	slurm epilog 7
	same "the report is beside the output" \
		"$(cd "$tmp/work" && ls)" "ktau-7-$(hostname -s).txt"
	check "ktaud has ended" [ ! -e "$state/7/running" ]
	rm -rf "$tmp/work"/*
}

# scontrol shows all tasks of an array for the job that has the number of the array.
test_array()
{
	slurm prolog 7
	{
		record '8 ArrayJobId=7' "WorkDir=$tmp" "StdOut=$tmp/other/8.out"
		record '7 ArrayJobId=7' "WorkDir=$tmp" "StdOut=$tmp/work/7.out"
		record '9 ArrayJobId=7' "WorkDir=$tmp" "StdOut=$tmp/other/9.out"
	} > "$tmp/jobs"
	slurm epilog 7
	check "the report of a task of an array" [ -s "$tmp/work/ktau-7-$(hostname -s).txt" ]
	same "nothing is logged" "$(cat "$tmp/log")" ""
	rm -rf "$tmp/work"/*
}

# No file of a long job is created or removed, because ktaud does not rotate by default.
test_old()
{
	slurm prolog 7
	mkdir "$state/6"
	touch -d '9 days ago' "$state/6" "$state/7"
	slurm prolog 8
	check "old recordings are removed" [ ! -e "$state/6" ]
	check "those of a job that runs are kept" [ -e "$state/7/conf" ]
}

test_requeued()
{
	slurm prolog 7
	slurm prolog 7
	same "the previous ktaud of a job is stopped first" \
		"$(grep -v status "$tmp/calls" | tr '\n' ';')" 'stop 7;start 7;'
}

# The previous ktaud does not end: its recording is not that of the new run.
test_stuck()
{
	record 7 "WorkDir=$tmp" "StdOut=$tmp/work/slurm-7.out" > "$tmp/jobs"
	slurm prolog 7
	: > "$state/7/stuck"
	slurm prolog 7
	check "a ktaud that does not end is logged" grep -q 'previous run did not end' "$tmp/log"
	slurm epilog 7
	check "the Epilog logs that it still runs" grep -q 'ktaud did not end' "$tmp/log"
	rm "$state/7/stuck"
	slurm epilog 7
	check "the Epilog logs that the job was not measured" grep -q 'was not measured' "$tmp/log"
	check "the Epilog stops the previous ktaud" [ ! -e "$state/7/running" ]
	same "there is no report" "$(ls "$tmp/work")" ""
}

test_wrong()
{
	slurm prolog 8
	for job in '' .. 8/../8 x; do
		for part in prolog epilog; do
			slurm $part "$job"
			check "the $part logs '$job'" grep -q 'not a number' "$tmp/log"
		done
	done
	slurm prolog 9 ''
	check "nor is an empty user id" grep -q 'not a number' "$tmp/log"
	check "other jobs are still there" [ -e "$state/8/conf" ]
	slurm epilog 12
	check "an Epilog without a Prolog is logged" grep -q 'was not measured' "$tmp/log"
}

test_job
test_array
test_old
test_requeued
test_stuck
test_wrong
done_testing
