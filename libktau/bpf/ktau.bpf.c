// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The programs that measure on a kernel without KTAU. state.h describes what they write.
 *
 * An update is made with preemption disabled, but an interrupt may run programs of its own context
 * in between. Only the order of the stores of one CPU matters, so barrier() is all that is needed.
 */
#include "before.h"
#include "kvm.h"
#include "read.h"
#include "table.h"
#include "tracing.h"

/* The kernel lets only programs of this licence use the helpers. LGPL code may be used under it. */
char LICENSE[] SEC("license") = "GPL";

#define CLONE_PARENT		0x00008000
#define CLONE_THREAD		0x00010000
#define VM_FAULT_RETRY		0x400

/*
 * System calls
 */

/* End the frames whose exits were missed. */
static __noinline int pop_missed(struct kb_state *st)
{
	struct moment now;

	if (!st)
		return 0;
	/* A page fault can end without the function that is seen, such as that of a vsyscall. */
	if (st->depth != 1 || st->frames[0].id != KB_ID_PAGE_FAULT_USER) {
		st->unbalanced++;
		count_loss(unbalanced);
	}
	read_clock(st, &now);
	return pop_all(st, now.clock, now.own);
}

/* A system call begins in a task that has a frame. */
static __noinline int end_open(struct kb_state *st)
{
	if (!st)
		return 0;
	if (st->depth == 1 && st->frames[0].id == KB_ID_BEFORE)
		return end_before(st, 0, false);
	return pop_missed(st);
}

/* @preemptible is constant, so the programs for most kernels do not even test it. */
static __always_inline int enter_call(unsigned long nr, bool preemptible)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kb_state *st = find(task);
	struct moment now;

	if (!st) {
		st = create(task);
		if (!st)
			return 0;
	}
	if (task->thread_info.status & TS_COMPAT)
		nr = KB_ID_OTHER_COMPAT;
	else if (nr >= KB_ID_SYSCALLS)
		return count_value(st, KB_ID_NONE, (u32)nr);
	if (preemptible)
		task_begin(st);
	else
		update_begin(st->seq, KB_TASK);
	if (st->depth)
		end_open(st);
	prepare(st, 0, nr);
	read_clock(st, &now);
	push_prepared(st, 0, &now);
	if (tracing)
		trace_fast(st, now.clock, KB_SLOT(KB_SLOT_ENTER, nr, 0, 0), 0, 0);
	if (preemptible)
		task_end(st);
	else
		update_end(st->seq, KB_TASK);
	return 0;
}

/*
 * A new task returns to user mode for the first time, or a call was entered before the profile
 * began. A call whose number does not exist has no frame. A task that has exited makes no calls.
 */
static __noinline int exit_slow(struct kb_state *st, long result)
{
	struct moment now;
	u32 depth, id;

	if (!st)
		return 0;
	depth = st->depth;
	if (!depth)
		return 0;
	task_begin(st);
	settle(st);
	read_clock(st, &now);
	if (st->depth == 1 && is_before(st)) {
		end_before(st, now.own, true);
	} else if (st->depth == 1 && (st->frames[0].id < KB_ID_SYSCALLS ||
				      st->frames[0].id == KB_ID_OTHER_COMPAT)) {
		id = st->frames[0].id;
		pop(st, &now, 0);
		if (tracing)
			trace_slot(st, now.clock, KB_SLOT(KB_SLOT_EXIT_RESULT, id, 0, 0), result,
				   0);
	} else if (st->depth) {
		pop_missed(st);
	}
	task_end(st);
	return 0;
}

static __always_inline int exit_call(long result, bool preemptible)
{
	struct kb_state *st = find(bpf_get_current_task_btf());
	struct moment now;
	u32 id;

	if (!st)
		return 0;
	id = st->frames[0].id;
	if (st->depth != 1 || id >= KB_ID_SYSCALLS)
		return exit_slow(st, result);
	if (preemptible)
		task_begin(st);
	else
		update_begin(st->seq, KB_TASK);
	read_clock(st, &now);
	pop(st, &now, 0);
	if (tracing)
		trace_fast(st, now.clock, KB_SLOT(KB_SLOT_EXIT_RESULT, id, 0, 0), result, 0);
	if (preemptible)
		task_end(st);
	else
		update_end(st->seq, KB_TASK);
	return 0;
}

/*
 * load.c selects one pair. From Linux 7.0 on, a program of a tracepoint can be preempted, and the
 * kernel skips it for all other tasks of the CPU until it goes on. The programs of the events that
 * perf makes of tracepoints cannot, but they require tracefs.
 */
SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, unsigned long nr)
{
	return enter_call(nr, false);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	return exit_call(ret, false);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_preemptible_enter, struct pt_regs *regs, unsigned long nr)
{
	return enter_call(nr, true);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_preemptible_exit, struct pt_regs *regs, long ret)
{
	return exit_call(ret, true);
}

SEC("tp/raw_syscalls/sys_enter")
int sys_perf_enter(struct trace_event_raw_sys_enter *ctx)
{
	return enter_call(ctx->id, false);
}

SEC("tp/raw_syscalls/sys_exit")
int sys_perf_exit(struct trace_event_raw_sys_exit *ctx)
{
	return exit_call(ctx->ret, false);
}

/*
 * Context switches
 */

/* @state: in which it waits, 0 if it is preempted */
static __noinline int leave_cpu(struct kb_state *st, u32 id, struct task_struct *prev,
				struct task_struct *next, u32 state)
{
	struct moment now;
	u32 depth;

	if (!st || st->exited)
		return 0;
	update_begin(st->seq, KB_TASK);
	if (st->unsettled)
		settle(st);
	read_clock(st, &now);
	depth = st->depth;
	push(st, &now, id);
	st->off_since = now.clock;
	st->off_own = now.own;
	st->off_asleep = id != KB_ID_SCHEDULE;
	if (tracing && st->depth != depth)
		trace_off(st, id, prev, next, state);
	update_end(st->seq, KB_TASK);
	return 0;
}

static __noinline int get_cpu(struct kb_state *st)
{
	u64 off, woken, took, asleep = 0, runq = 0;
	struct moment now;
	u32 last, id;

	if (!st || st->exited)
		return 0;
	update_begin(st->seq, KB_TASK);
	read_clock(st, &now);
	off = __sync_lock_test_and_set(&st->off_since, KB_ON_CPU);
	if (st->seed_switch) {
		unfold_seed(st, off);
		if (tracing && !st->seed_switch)
			trace_seed(st);
	}
	if (off == KB_ON_UNKNOWN) {
		begin_again(st, now.clock);
	} else if (off != KB_ON_CPU && now.clock > off) {
		/*
		 * If the kernel skipped this program before, the task has run in between. The
		 * interrupts that hit it then are not time off the CPU.
		 */
		took = now.own - st->off_own;
		if ((s64)took < 0)
			took = 0;
		woken = st->woken;
		if (st->off_asleep)
			asleep = woken >= off && woken <= now.clock ? woken - off : took;
		if (asleep > took)
			asleep = took;
		runq = took - asleep;
		st->asleep_ns += asleep;
		st->runq_ns += runq;
	}
	last = st->depth - 1;
	if (last < KB_NR_FRAMES) {
		add_off(&st->frames[last], asleep, runq);
		id = st->frames[last].id;
		if (id >= KB_ID_SCHEDULE && id <= KB_ID_SCHEDULE_VOL_STOPPED) {
			pop(st, &now, last);
			if (tracing)
				trace_back(st, now.clock, off, id);
		}
	}
	update_end(st->seq, KB_TASK);
	return 0;
}

static __always_inline void account_cpu(bool to_idle)
{
	struct kb_cpu *c = this_cpu();
	u64 own;

	if (!c)
		return;
	update_begin(c->seq, KB_TASK);
	own = bpf_ktime_get_ns() - c->now.hard_ns - c->soft_ns;
	if (c->since && own > c->since) {
		if (c->idle)
			c->idle_ns += own - c->since;
		else
			c->busy_ns += own - c->since;
	}
	c->since = own;
	c->idle = to_idle;
	update_end(c->seq, KB_TASK);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	struct kb_state *st;

	if (prev->pid)
		leave_cpu(find_or_create(prev), switch_id(prev, preempt, state), prev, next,
			  preempt ? 0 : state);
	account_cpu(!next->pid);
	if (!next->pid)
		return 0;
	st = find(next);
	get_cpu(st);
	return tracing && st && st->css_set != (u64)next->cgroups ? trace_changes(st, next) : 0;
}

/*
 * A copy that is made between the clock and the store would have the task asleep for longer than
 * the next one. The kernel wakes a task with interrupts disabled, and only once at a time.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	struct kb_state *st = find(p);

	if (st) {
		update_begin(st->seq, KB_WAKER);
		st->woken = bpf_ktime_get_ns();
		update_end(st->seq, KB_WAKER);
	}
	return tracing ? trace_waking(st, p) : 0;
}

/*
 * Interrupts
 */

static __always_inline void add_irq(struct kb_irq_cell *cell, u64 wall, u64 own)
{
	cell->count++;
	cell->incl += wall;
	cell->excl += own;
	if (wall > cell->longest)
		cell->longest = wall;
}

/* @in_cpu: the cell's number in the CPU's table */
static __always_inline void enter_hard(u32 in_cpu)
{
	struct kb_cpu *c = this_cpu();

	if (!c)
		return;
	if (c->now.hard_start)
		count_loss(nested);
	c->now.hard_cell = in_cpu;
	barrier();
	c->now.hard_start = bpf_ktime_get_ns();
	if (tracing)
		trace_irq(c->now.hard_start, KB_SLOT_IRQ_ENTER, in_cpu, KB_HARD);
}

/* @in_cpu and @in_task: the cell's number in the CPU's and in the task's table. */
static __noinline int exit_hard(u32 in_cpu, u32 in_task)
{
	struct kb_cpu *c = this_cpu();
	struct kb_state *st;
	u64 now, took;

	if (!c || !c->now.hard_start)
		return 0;
	now = bpf_ktime_get_ns();
	took = now - c->now.hard_start;
	if ((s64)took < 0)
		took = 0;
	update_begin(c->seq, KB_HARD);
	c->now.hard_ns += took;
	if (in_cpu < KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_CPU_LINES + 1)
		add_irq(&c->irqs[in_cpu], took, took);
	if (tracing)
		trace_irq(now, KB_SLOT_IRQ_EXIT, in_cpu, KB_HARD);
	st = hit();
	if (st) {
		took = within_life(st, now, took);
		update_begin(st->seq, KB_HARD);
		__sync_fetch_and_add(&st->stolen_ns, took);
		if (in_task < KB_IRQ_CELLS)
			add_irq(&st->irqs[in_task], took, took);
		update_end(st->seq, KB_HARD);
		settle_interrupted(st);
	}
	/* While it is set, a reader adds the time since then to what it finds in the state. */
	c->now.hard_start = 0;
	update_end(c->seq, KB_HARD);
	return 0;
}

/* The number of an interrupt line's cell in the CPU's table. */
static __always_inline u32 line_in_cpu(u32 line)
{
	u32 number = line < KB_NR_CPU_LINES ? line : KB_NR_CPU_LINES;

	return KB_NR_SOFTIRQS + KB_NR_VECTORS + number;
}

/* The number of an interrupt line's cell in a task's table. */
static __always_inline u32 line_cell(u32 line)
{
	struct kb_state *st = hit();
	u32 i;

	if (!st)
		return 0;
	for (i = 0; i < KB_NR_LINES; i++) {
		if (!st->lines[i])
			st->lines[i] = line + 1;
		if (st->lines[i] == line + 1)
			break;
	}
	return KB_NR_SOFTIRQS + KB_NR_VECTORS + i;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int line, struct irqaction *action)
{
	enter_hard(line_in_cpu(line));
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int line, struct irqaction *action, int ret)
{
	u32 in_cpu = line_in_cpu(line);

	return exit_hard(in_cpu, line_cell(in_cpu - KB_NR_SOFTIRQS - KB_NR_VECTORS));
}

/* clang-format off */
#define VECTOR(name, number)						\
SEC("tp_btf/" #name "_entry")						\
int BPF_PROG(name##_entry, int vector)					\
{									\
	enter_hard(KB_NR_SOFTIRQS + (number));				\
	return 0;							\
}									\
									\
SEC("tp_btf/" #name "_exit")						\
int BPF_PROG(name##_exit, int vector)					\
{									\
	return exit_hard(KB_NR_SOFTIRQS + (number), KB_NR_SOFTIRQS + (number)); \
}

/* clang-format on */

VECTOR(local_timer, KB_LOCAL_TIMER)
VECTOR(reschedule, KB_RESCHEDULE)
VECTOR(call_function, KB_CALL_FUNCTION)
VECTOR(call_function_single, KB_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, KB_IRQ_WORK)

/* A softirq's clock; see read_clock(). */
static __always_inline void read_soft_clock(const struct kb_cpu *c, struct moment *now)
{
	const volatile u64 *hard = &c->now.hard_ns;
	u64 stolen = *hard;

	now->clock = bpf_ktime_get_ns();
	if (*hard != stolen) {
		stolen = *hard;
		now->clock = bpf_ktime_get_ns();
	}
	now->own = now->clock - stolen;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	struct kb_cpu *c = this_cpu();
	struct moment now;

	if (!c)
		return 0;
	read_soft_clock(c, &now);
	c->now.soft_own_start = now.own;
	c->now.soft_cell = vector;
	barrier();
	c->now.soft_start = now.clock;
	return tracing ? trace_irq(now.clock, KB_SLOT_IRQ_ENTER, vector, KB_SOFT) : 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vector)
{
	struct kb_cpu *c = this_cpu();
	struct moment now;
	struct kb_state *st;
	u64 wall, own;

	if (!c || !c->now.soft_start || vector >= KB_NR_SOFTIRQS)
		return 0;
	read_soft_clock(c, &now);
	wall = now.clock - c->now.soft_start;
	own = now.own - c->now.soft_own_start;
	if ((s64)own < 0)
		own = 0;
	if ((s64)(wall - own) < 0)
		wall = own;
	update_begin(c->seq, KB_SOFT);
	c->soft_ns += own;
	add_irq(&c->irqs[vector], wall, own);
	if (tracing)
		trace_irq(now.clock, KB_SLOT_IRQ_EXIT, vector, KB_SOFT);
	st = hit();
	if (st) {
		wall = within_life(st, now.clock, wall);
		own = own < wall ? own : wall;
		update_begin(st->seq, KB_SOFT);
		__sync_fetch_and_add(&st->stolen_ns, own);
		add_irq(&st->irqs[vector], wall, own);
		update_end(st->seq, KB_SOFT);
		settle_interrupted(st);
	}
	c->now.soft_start = 0;
	update_end(c->seq, KB_SOFT);
	return 0;
}

/*
 * Signals, page faults, TCP
 */

static __always_inline int enter_function(u32 id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kb_state *st = task->pid ? find_or_create(task) : NULL;
	struct moment now;
	u32 depth;

	if (!st || st->exited)
		return 0;
	task_begin(st);
	if (st->unsettled)
		settle(st);
	read_clock(st, &now);
	depth = st->depth;
	push(st, &now, id);
	if (tracing && st->depth != depth)
		trace_slot(st, now.clock, KB_SLOT(KB_SLOT_ENTER, id, 0, 0), 0, 0);
	task_end(st);
	return 0;
}

static __always_inline int exit_function(u32 id)
{
	struct kb_state *st = find(bpf_get_current_task_btf());
	struct moment now;
	u32 last;

	if (!st || st->exited)
		return 0;
	last = st->depth - 1;
	if (last >= KB_NR_FRAMES || st->frames[last].id != id)
		return 0;
	task_begin(st);
	read_clock(st, &now);
	pop(st, &now, last);
	if (tracing)
		trace_slot(st, now.clock, KB_SLOT(KB_SLOT_EXIT, id, 0, 0), 0, 0);
	task_end(st);
	return 0;
}

static __always_inline int count_current(u32 id, u64 value)
{
	struct kb_state *st = find_or_create(bpf_get_current_task_btf());

	return st && !st->exited ? count_value(st, id, value) : 0;
}

/* An interrupt may send one, too; then it is not an event of the interrupted task. */
SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int sig)
{
	struct kb_cpu *c = this_cpu();

	if (!c || c->now.hard_start || c->now.soft_start || !bpf_get_current_task_btf()->pid)
		return 0;
	/* The signal of a page fault at an invalid address is the end of the fault. */
	exit_function(KB_ID_PAGE_FAULT_USER);
	return count_current(KB_ID_SIGNAL_GENERATE, sig);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_deliver, int sig)
{
	return count_current(KB_ID_SIGNAL_DELIVER, sig);
}

/* Before the handler enables interrupts: the task was in user mode. */
SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address)
{
	struct kb_state *st = find_or_create(bpf_get_current_task_btf());
	struct moment now;

	if (!st || st->exited)
		return 0;
	if (!time_faults)
		return count_value(st, KB_ID_PAGE_FAULT_USER, 1);
	task_begin(st);
	if (st->depth)
		end_open(st);
	read_clock(st, &now);
	push(st, &now, KB_ID_PAGE_FAULT_USER);
	if (tracing && st->depth)
		trace_slot(st, now.clock,
			   KB_SLOT(KB_SLOT_ENTER_ADDRESS, KB_ID_PAGE_FAULT_USER, 0, 0), address, 0);
	task_end(st);
	return 0;
}

/* The last of the functions of a page fault in which a program can be attached. */
SEC("fexit/handle_mm_fault")
int BPF_PROG(page_fault_user_exit, struct vm_area_struct *vma, unsigned long address,
	     unsigned int flags, struct pt_regs *regs, unsigned int ret)
{
	/* It is called again after a retry. */
	return ret & VM_FAULT_RETRY ? 0 : exit_function(KB_ID_PAGE_FAULT_USER);
}

/* clang-format off */
#define FUNCTION(name, id)						\
SEC("fentry/" #name)							\
int BPF_PROG(name##_enter)						\
{									\
	return enter_function(id);					\
}									\
									\
SEC("fexit/" #name)							\
int BPF_PROG(name##_exit)						\
{									\
	return exit_function(id);					\
}

/* clang-format on */

FUNCTION(tcp_sendmsg, KB_ID_TCP_SENDMSG)
FUNCTION(tcp_recvmsg, KB_ID_TCP_RECVMSG)

/*
 * Virtual CPUs
 */

SEC("tp_btf/kvm_entry")
int BPF_PROG(kvm_entry, struct kvm_vcpu *vcpu)
{
	return enter_vcpu(vcpu);
}

SEC("tp_btf/kvm_exit")
int BPF_PROG(kvm_exit, struct kvm_vcpu *vcpu, u32 isa)
{
	return exit_vcpu(vcpu, isa);
}

/*
 * The life of a task
 */

SEC("tp_btf/task_newtask")
int BPF_PROG(task_newtask, struct task_struct *task, u64 flags)
{
	struct kb_state *parent = find(bpf_get_current_task_btf());
	struct kb_state *st;

	/* An idle task of a new CPU */
	if (!task->pid)
		return 0;
	/* If the kernel skipped sched_process_free, the slot of another task that was here. */
	release_slot(find_in_slots(key_of(task)));
	/* Either it is activated later, or all of its life is measured. */
	if (phase == KB_ATTACHING)
		return 0;
	st = claim_slot(task, KB_ID_NEW);
	if (!st)
		st = try_create(task, KB_ID_NEW);
	if (!st) {
		count_loss(no_state);
		return 0;
	}
	if (tracing)
		note_cgroup(st, task);
	if (!parent)
		return 0;
	st->leader_serial = flags & CLONE_THREAD ? parent->leader_serial : st->serial;
	st->parent_serial = flags & (CLONE_THREAD | CLONE_PARENT) ? parent->parent_serial :
								    parent->leader_serial;
	return tracing && has_switches && !parent->exited ? trace_fork(parent, st) : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec)
{
	struct kb_state *st = find(bpf_get_current_task_btf());

	if (st)
		st->owner.exec_ns = bpf_ktime_get_boot_ns();
	return tracing ? trace_exec(st) : 0;
}

/* Of a trace only. The name that an exec gives is in the slot of the exec. */
SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	u32 by_itself = task->pid == bpf_get_current_task_btf()->pid;

	if (!tracing || (by_itself && BPF_CORE_READ_BITFIELD(task, in_execve)))
		return 0;
	return trace_rename(find(task), comm, by_itself);
}

/* The second chunk goes first, so its owner's record completes the pair. */
static __always_inline bool send_more(struct kb_state *st, struct task_struct *task)
{
	struct kb_more *next;

	if (st->nr_cells <= KB_NR_FIRST)
		return true;
	next = bpf_task_storage_get(&more, task, NULL, 0);
	return next && !bpf_ringbuf_output(&exited, next, sizeof(*next), 0);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kb_state *st = find(task);
	struct moment now;

	if (!st || st->exited)
		return 0;
	task_begin(st);
	settle(st);
	/* Interrupts from now on are not in the profile, nor in the trace, which ends here. */
	st->exited = KB_EXITING;
	barrier();
	if (tracing)
		trace_slot(st, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_TASK_EXIT, KB_ID_ANY, 0, 0),
			   (u32)task->exit_code, 0);
	read_clock(st, &now);
	pop_all(st, now.clock, now.own);
	st->now = now.clock;
	task_end(st);
	fill_owner(st, task);
	st->owner.exit_ns = bpf_ktime_get_boot_ns();
	st->type = KB_RECORD_EXITED;
	if (!send_more(st, task) ||
	    bpf_ringbuf_output(&exited, st, __builtin_offsetof(struct kb_state, index), 0))
		count_loss(lost_exited);
	barrier();
	st->exited = KB_EXITED;
	return 0;
}

/* The task has been switched out for the last time, and its memory is about to be freed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(sched_process_free, struct task_struct *p)
{
	return release_slot(find_in_slots(key_of(p)));
}

/*
 * Reading
 */

SEC("iter/task")
int read_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct kb_state *st, *to;
	struct kb_more *to_next;
	u32 zero = 0;
	int copied;

	if (!task || (only_tgid && (u32)task->tgid != only_tgid))
		return 0;
	if (phase == KB_ACTIVATING)
		return activate(task);
	to = bpf_map_lookup_elem(&copy, &zero);
	to_next = bpf_map_lookup_elem(&copy_more, &zero);
	st = find(task);
	if (!to || !to_next || !st || !st->serial || st->exited == KB_EXITED)
		return 0;
	copied = copy_state(task, st, to, to_next);
	fill_owner(to, task);
	barrier();
	if (is_taken(st, task))
		return 0;
	if (!copied || st->exited) {
		/* The owner is known; compose.c counts the rest as torn. */
		to->serial = st->serial;
		to->torn = 1;
	} else {
		to->torn = 0;
		if (to->seed_switch && has_switches)
			unfold_seed(to, to->off_since);
		else if (to->seed_switch)
			unfold_call(to);
	}
	to->type = KB_RECORD_LIVE;
	if (!to->torn && to->nr_cells > KB_NR_FIRST)
		bpf_seq_write(ctx->meta->seq, to_next, sizeof(*to_next));
	bpf_seq_write(ctx->meta->seq, to, COPY_BYTES);
	return 0;
}
