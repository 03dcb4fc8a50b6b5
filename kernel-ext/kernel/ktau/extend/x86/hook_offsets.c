// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: constants for hook_entry.S. This file is compiled to assembler code, which the Makefile
 * turns into a header.
 */
#include <linux/kbuild.h>
#include <linux/sched.h>

#include "base/event.h"
#include "extend/hook.h"

static void __used offsets(void)
{
	OFFSET(TASK_MASK, task_struct, ktau.mask);
	OFFSET(TASK_TOP, task_struct, ktau.top);
	OFFSET(FRAME_INFO, ktau_frame, info);
	DEFINE(FRAME_BYTES, sizeof(struct ktau_frame));
	DEFINE(GROUP_FUNC, KTAU_GROUP_FUNC);
	DEFINE(ID_FUNCTION, KTAU_ID_FUNCTION);
	DEFINE(NR_STUBS, KTAU_NR_FUNCTION_IDS);
	DEFINE(STUB_BYTES, KTAU_HOOK_STUB_BYTES);
	DEFINE(FEW_ARGS, KTAU_HOOK_FEW_ARGS);
}
