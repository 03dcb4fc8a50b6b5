/* SPDX-License-Identifier: GPL-2.0-only */
struct task_struct {
	int state;
	int prio;
};
