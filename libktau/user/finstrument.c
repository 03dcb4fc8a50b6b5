// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-finstrument: makes each function of a program that was compiled with
 * -finstrument-functions a region.
 */
#include <dlfcn.h>

#include "ktau_user.h"

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* The stack address is that at which the function calls the hook. */
void __cyg_profile_func_enter(void *function, void *caller)
{
	ktau_user_enter_function(function, caller, __builtin_dwarf_cfa());
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	ktau_user_exit_function(function, caller, __builtin_dwarf_cfa());
}

/* Another object may be loaded at the same addresses. */
int dlclose(void *handle)
{
	static int (*next)(void *handle);
	int status;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dlclose");
	status = next(handle);
	ktau_user_unloaded();
	return status;
}
