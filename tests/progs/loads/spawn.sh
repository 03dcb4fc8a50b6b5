#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# spawn.sh N: start N short-lived processes, one after another.
i=0
while [ $i -lt "$1" ]; do
	/bin/true
	i=$((i + 1))
done
echo "process $$ started $i"
