// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: functions hooked at run time.
 *
 * A hook attaches the stub of an event (hook_entry.S) to a function by means of ftrace's
 * direct calls. A function gets its event when it is first hooked and keeps it until reboot.
 *
 * Not every function can be hooked. A function that a request names but that cannot be hooked
 * is in the list too, with the reason, until it is removed from the list.
 *
 * A module cannot be unloaded while one of its functions is hooked.
 */
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/sections.h>

#include "base/compat.h"
#include "base/event.h"
#include "base/ids.h"
#include "hook.h"
#include "hook_types.h"

#define NR_HOOKS	KTAU_NR_FUNCTION_IDS

enum hook_state {
	HOOK_ON,
	HOOK_BUSY,	/* another trampoline or a live patch is attached to the function */
	HOOK_NOTRACE,	/* ftrace cannot attach anything to it */
	HOOK_STACK_ARGS, /* it has, or may have, arguments on the stack */
	HOOK_NO_TYPES,	/* its arguments are not known */
	HOOK_AMBIGUOUS,	/* several functions have its name */
	HOOK_UNSAFE,	/* a frame in it would not end where it began */
	HOOK_NO_ID,	/* no id is left, or no room for its name */
	HOOK_FAILED,	/* ftrace has failed, usually for lack of memory */
};

static const char * const state_names[] = {
	[HOOK_ON] = "on",
	[HOOK_BUSY] = "busy",
	[HOOK_NOTRACE] = "notrace",
	[HOOK_STACK_ARGS] = "stack-args",
	[HOOK_NO_TYPES] = "no-types",
	[HOOK_AMBIGUOUS] = "ambiguous",
	[HOOK_UNSAFE] = "unsafe",
	[HOOK_NO_ID] = "no-id",
	[HOOK_FAILED] = "failed",
};

/**
 * struct hook - a function that is hooked, or that could not be
 * @list: in the list of hooks, or in that of the functions found by a request
 * @ops: attaches the stub; the other fields do not change once the hook is in the list
 * @fn: address of the function
 * @module: its module, with a reference if @state is HOOK_ON; NULL for the kernel itself
 * @id: its event, if @state is HOOK_ON
 * @nr_words: number of registers that its arguments take, if @state is HOOK_ON
 * @state: HOOK_*
 * @leaving: whether the current request removes it
 * @name: its name
 */
struct hook {
	struct list_head	list;
	struct ftrace_ops	ops;
	unsigned long		fn;
	struct module		*module;
	unsigned int		id;
	int			nr_words;
	enum hook_state		state;
	bool			leaving;
	char			name[KSYM_NAME_LEN];
};

/*
 * Serialises requests. A request can hold it for many seconds, because unhooking a function
 * can take a tenth of a second, so other settings must not depend on it.
 */
static DEFINE_MUTEX(hooks_mutex);
static DEFINE_MUTEX(list_mutex);	/* guards the list for readers that are no requests */

/* In the order of the requests. Changed under both mutexes, read under either. */
static LIST_HEAD(hooks);

/*
 * The current task at the entry of __switch_to() is not the one at its exit. ret_from_fork()
 * and vtime_user_enter() close the root frame before user mode. KTAU calls kthread_func()
 * when a task gets the CPU. The others never return; do_idle() and those after it do not if
 * the CPU goes offline. The idle task then starts again at the beginning of its stack, where
 * it overwrites frames that are still open.
 */
static const char * const unsafe_functions[] = {
	"__switch_to", "ret_from_fork", "vtime_user_enter", "kthread_func",
	"do_exit", "do_group_exit", "do_task_dead", "make_task_dead", "kthread_exit",
	"kthread_complete_and_exit", "__module_put_and_kthread_exit", "panic", "nmi_panic",
	"cpu_startup_entry", "do_idle", "arch_cpu_idle_dead", "native_play_dead",
	"mwait_play_dead", "hlt_play_dead", "xen_pv_play_dead", "cpuidle_play_dead",
	"acpi_idle_play_dead",
};

static unsigned long stub_of(const struct hook *hook)
{
	const bool many = hook->nr_words > KTAU_HOOK_FEW_ARGS;

	return (unsigned long)ktau_hook_stubs[many][hook->id - KTAU_ID_FUNCTION];
}

static enum hook_state judge(struct hook *hook)
{
	if (hook->state == HOOK_AMBIGUOUS)
		return HOOK_AMBIGUOUS;
	if (match_string(unsafe_functions, ARRAY_SIZE(unsafe_functions), hook->name) >= 0)
		return HOOK_UNSAFE;
	if (!ftrace_location(hook->fn))
		return HOOK_NOTRACE;
	hook->nr_words = ktau_hook_types(hook->name, hook->fn, hook->module);
	if (hook->nr_words >= 0)
		return HOOK_ON;
	return hook->nr_words == -E2BIG ? HOOK_STACK_ARGS : HOOK_NO_TYPES;
}

static enum hook_state attach(struct hook *hook)
{
	int err;

	hook->id = ktau_function_id(hook->fn, hook->name);
	if (hook->id == KTAU_ID_NONE)
		return HOOK_NO_ID;
	err = ftrace_set_filter_ip(&hook->ops, ftrace_location(hook->fn), 0, 1);
	if (err)
		return HOOK_FAILED;
	err = ktau_direct_attach(&hook->ops, stub_of(hook));
	if (!err)
		return HOOK_ON;
	ftrace_free_filter(&hook->ops);
	return err == -EBUSY ? HOOK_BUSY : HOOK_FAILED;
}

static void free_hook(struct hook *hook)
{
	module_put(hook->module);
	kfree(hook);
}

/* If detaching fails, ftrace has disabled itself and still uses @ops, which is not freed then. */
static void drop(struct hook *hook)
{
	int err = 0;

	if (hook->state == HOOK_ON)
		err = ktau_direct_detach(&hook->ops, stub_of(hook));
	mutex_lock(&list_mutex);
	list_del(&hook->list);
	mutex_unlock(&list_mutex);
	if (!err)
		free_hook(hook);
}

static struct hook *find(const struct list_head *list, unsigned long fn)
{
	struct hook *hook;

	list_for_each_entry(hook, list, list)
		if (hook->fn == fn)
			return hook;
	return NULL;
}

static struct hook *find_name(const struct list_head *list, const char *name)
{
	struct hook *hook;

	list_for_each_entry(hook, list, list)
		if (!strcmp(hook->name, name))
			return hook;
	return NULL;
}

/**
 * struct search - the functions that match a pattern
 * @pattern: the pattern
 * @found: list to which the functions are added
 * @nr: number of functions added to @found
 * @any: whether any function matches, including those that were in @found before
 */
struct search {
	const char *pattern;
	struct list_head *found;
	unsigned int nr;
	bool any;
};

/* Whether a symbol in text matches, and is a function as opposed to a part of a function. */
static bool matches(const struct search *search, const char *name)
{
	return glob_match(search->pattern, name) && !strstr(name, ".cold") &&
	       !str_has_prefix(name, "__pfx_") && !str_has_prefix(name, "__cfi_");
}

static int add_found(struct search *search, const char *name, unsigned long address,
		     struct module *module)
{
	struct hook *hook = find_name(search->found, name);

	search->any = true;
	if (hook && hook->fn != address)
		hook->state = HOOK_AMBIGUOUS;
	if (hook || find(search->found, address))
		return 0;
	if (++search->nr > NR_HOOKS)
		return -E2BIG;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	if (!hook)
		return -ENOMEM;
	hook->fn = address;
	hook->module = module;
	__module_get(module);
	hook->id = KTAU_ID_NONE;
	strscpy(hook->name, name, sizeof(hook->name));
	list_add_tail(&hook->list, search->found);
	return 0;
}

static int visit(void *data, const char *name, unsigned long address)
{
	struct search *search = data;

	if (!matches(search, name) || !__is_kernel_text(address))
		return 0;
	return add_found(search, name, address, NULL);
}

static int visit_of_module(void *data, const char *name, unsigned long address)
{
	struct search *search = data;
	struct module *module;

	if (!matches(search, name))
		return 0;
	module = ktau_module_of(address);
	return module ? add_found(search, name, address, module) : 0;
}

/* The length of the list once the functions in @found have been added. */
static unsigned int nr_after(const struct list_head *found)
{
	struct hook *hook;
	unsigned int nr = 0;

	list_for_each_entry(hook, &hooks, list)
		nr += !hook->leaving && !find(found, hook->fn);
	list_for_each_entry(hook, found, list)
		nr++;
	return nr;
}

/**
 * ktau_hooks_lock() - begin a request
 *
 * Context: Task.
 * Return: 0, or -EBUSY during another request.
 */
int ktau_hooks_lock(void)
{
	struct hook *hook;

	if (!mutex_trylock(&hooks_mutex))
		return -EBUSY;
	list_for_each_entry(hook, &hooks, list)
		hook->leaving = false;
	return 0;
}

/**
 * ktau_hooks_unlock() - end a request
 *
 * Context: Task.
 */
void ktau_hooks_unlock(void)
{
	mutex_unlock(&hooks_mutex);
}

/**
 * ktau_hooks_find() - find the functions that match a pattern
 * @pattern: a name, in which "*", "?" and "[...]" are wildcards
 * @found: list of the functions found so far, to which this adds those that match
 *
 * Context: May sleep, in a request. The caller frees the list with ktau_hooks_drop(),
 * also after an error.
 * Return: 0, -ENOENT if none matches, -E2BIG if the list would become too long, -ENOMEM.
 */
int ktau_hooks_find(const char *pattern, struct list_head *found)
{
	struct search search = { .pattern = pattern, .found = found };
	int err = ktau_each_symbol(visit, &search) ?:
		  ktau_each_module_symbol(visit_of_module, &search);

	if (err)
		return err;
	if (!search.any)
		return -ENOENT;
	return nr_after(found) > NR_HOOKS ? -E2BIG : 0;
}

/**
 * ktau_hooks_add() - hook functions
 * @found: the functions, from ktau_hooks_find(); empty afterwards
 *
 * Functions that cannot be hooked are added to the list too, with the reason.
 *
 * Context: May sleep, in a request.
 */
void ktau_hooks_add(struct list_head *found)
{
	struct hook *hook, *next, *old;

	lockdep_assert_held(&hooks_mutex);
	list_for_each_entry_safe(hook, next, found, list) {
		old = find(&hooks, hook->fn);
		if (old && old->state == HOOK_ON)
			continue;
		if (old)
			drop(old);
		hook->state = judge(hook);
		if (hook->state == HOOK_ON)
			hook->state = attach(hook);
		if (hook->state != HOOK_ON) {
			module_put(hook->module);
			hook->module = NULL;
		}
		mutex_lock(&list_mutex);
		list_move_tail(&hook->list, &hooks);
		mutex_unlock(&list_mutex);
		cond_resched();
	}
	ktau_hooks_drop(found);
}

/**
 * ktau_hooks_drop() - free what ktau_hooks_find() has found
 * @found: the list; empty afterwards
 *
 * Context: May sleep.
 */
void ktau_hooks_drop(struct list_head *found)
{
	struct hook *hook, *next;

	list_for_each_entry_safe(hook, next, found, list) {
		list_del(&hook->list);
		free_hook(hook);
	}
}

/**
 * ktau_hooks_leave() - choose functions in the list that this request unhooks
 * @pattern: as for ktau_hooks_find()
 *
 * Context: May sleep, in a request.
 * Return: Whether any function matches.
 */
bool ktau_hooks_leave(const char *pattern)
{
	struct hook *hook;
	bool any = false;

	list_for_each_entry(hook, &hooks, list) {
		if (glob_match(pattern, hook->name)) {
			hook->leaving = true;
			any = true;
		}
	}
	return any;
}

/**
 * ktau_hooks_remove() - unhook the functions chosen, and remove them from the list
 *
 * Activations that are in progress end as usual.
 *
 * Context: May sleep, in a request.
 */
void ktau_hooks_remove(void)
{
	struct hook *hook, *next;

	lockdep_assert_held(&hooks_mutex);
	list_for_each_entry_safe(hook, next, &hooks, list)
		if (hook->leaving)
			drop(hook);
}

/* With kernel.ftrace_enabled=0, no trampoline of ftrace is called. */
static const char *state_of(const struct hook *hook)
{
	if (hook->state == HOOK_ON && !READ_ONCE(ftrace_enabled))
		return "off";
	return state_names[hook->state];
}

/**
 * ktau_hooks_show() - show the list
 *
 * This neither waits for a request nor makes one fail.
 *
 * Context: May sleep.
 * Return: 0.
 */
int ktau_hooks_show(struct seq_file *m)
{
	const struct hook *hook;

	mutex_lock(&list_mutex);
	seq_puts(m, "# name id state\n");
	list_for_each_entry(hook, &hooks, list) {
		seq_printf(m, "%s ", hook->name);
		if (hook->state == HOOK_ON)
			seq_printf(m, "%u ", hook->id);
		else
			seq_puts(m, "- ");
		seq_printf(m, "%s\n", state_of(hook));
	}
	mutex_unlock(&list_mutex);
	return 0;
}
