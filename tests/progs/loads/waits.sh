#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Waits for a timer, for a child, for a pipe and for a CPU.
sleep 0.05
(sleep 0.02; i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done) | cat
(i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done) &
wait
