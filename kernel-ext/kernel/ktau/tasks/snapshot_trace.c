// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: copying the trace of one owner, and converting its slots to their form in
 * streams.
 *
 * The owner may write while its ring is read. The reader takes a few slots at a time:
 *
 *	it waits until the first one and its continuation slots are committed,
 *	copies them and those that are committed after them, and
 *	reads @head: if the writer may have overwritten the first one since, the copies
 *	may be torn, and the reader drops them.
 *
 * Only a consistent copy is interpreted. The slots of a record have no gap: the record
 * ends where the writer overtakes the reader, and the next one counts the lost slots.
 *
 * Calls, of which there are most, have no continuation slots and nothing in them is
 * followed. Those after the first slots of a record are converted straight from the ring,
 * and taken back if they may have been torn.
 */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "base/arch.h"
#include "base/event.h"
#include "measure/ring.h"
#include "measure/trace.h"
#include "snapshot_trace.h"

#define QUICK_TRIES	3
#define SLOW_TRIES	100

/* Slots that are copied at once, and calls that are converted at once. */
#define RUN_SLOTS	16
#define RUN_CALLS	64

/**
 * struct run - copies of successive slots of a ring
 * @slot: the copies
 * @nr: how many
 */
struct run {
	struct ktau_ring_slot slot[RUN_SLOTS];
	unsigned int nr;
};

/* Whether slot @nr is committed, or has been overwritten. */
static bool is_written(const struct ktau_ring_slot *raw, u64 nr)
{
	return (s32)(READ_ONCE(raw->seq) - (u32)nr) > 0;
}

/* Wait until it is. Return: whether it was. */
static bool wait_written(const struct ktau_ring_slot *raw, u64 nr)
{
	unsigned int i;

	for (i = 0; i < SLOW_TRIES; i++) {
		if (is_written(raw, nr))
			return true;
		if (i < QUICK_TRIES)
			cpu_relax();
		else
			usleep_range(20, 100);
	}
	return false;
}

static bool is_call(unsigned int type)
{
	return type == KTAU_TRACE_ENTER || type == KTAU_TRACE_EXIT;
}

/*
 * Whether @arg of an ENTER or EXIT is meaningful. Every exit contains the word in which a system
 * call has its result.
 */
static bool has_arg(const struct ktau_ring_slot *raw)
{
	return (raw->what & KTAU_WHAT_ARG) &&
	       (KTAU_WHAT_TYPE(raw->what) == KTAU_TRACE_ENTER ||
		ktau_event_group(KTAU_WHAT_SMALL(raw->what)) == KTAU_GROUP_SYSCALL);
}

static unsigned int encode_word(void *to, u64 value)
{
	*(u64 *)to = value;
	return 1;
}

static unsigned int encode_switch(struct ktau_slot_switch *to,
				  const struct ktau_ring_slot *raw)
{
	to->next_serial = ktau_packed_serial(raw->arg);
	to->state = KTAU_WHAT_SMALL(raw->what);
	to->prio = ktau_packed_prio(raw->arg, 48);
	to->next_prio = ktau_packed_prio(raw->arg, 56);
	return sizeof(*to) / sizeof(u64);
}

static unsigned int encode_waking(struct ktau_slot_waking *to,
				  const struct ktau_ring_slot *raw)
{
	to->serial = ktau_packed_serial(raw->arg);
	to->target_cpu = KTAU_WHAT_SMALL(raw->what);
	to->prio = ktau_packed_prio(raw->arg, 48);
	return sizeof(*to) / sizeof(u64);
}

static unsigned int encode_woken(struct ktau_slot_woken *to,
				 const struct ktau_ring_slot *raw)
{
	*to = (struct ktau_slot_woken) {
		.waker_serial = ktau_packed_serial(raw[0].arg),
		.waking_ticks = raw[1].ticks,
		.target_cpu = KTAU_WHAT_SMALL(raw[0].what),
		.waker_ctx = ktau_packed_prio(raw[0].arg, 48),
	};
	return sizeof(*to) / sizeof(u64);
}

static unsigned int encode_kvm(struct ktau_slot_kvm *to,
			       const struct ktau_ring_slot *raw)
{
	to->vcpu = raw->arg;
	to->reason = raw->arg >> 32;
	return sizeof(*to) / sizeof(u64);
}

static unsigned int encode_kvm_clock(struct ktau_slot_kvm_clock *to,
				     const struct ktau_ring_slot *raw)
{
	to->vcpu = raw[0].arg;
	to->frac_bits = raw[0].arg >> 32;
	to->tsc_offset = raw[1].ticks;
	to->tsc_ratio = raw[1].arg;
	return sizeof(*to) / sizeof(u64);
}

static unsigned int encode_fork(struct ktau_slot_fork *to,
				const struct ktau_ring_slot *raw)
{
	to->serial = raw[0].arg;
	to->leader_serial = raw[1].arg;
	return sizeof(*to) / sizeof(u64);
}

/* A name of 16 bytes. */
static unsigned int encode_comm(u64 *to, const struct ktau_ring_slot *raw)
{
	to[0] = raw[1].ticks;
	to[1] = raw[1].arg;
	return 2;
}

/* __ktau_net() has the layout. */
static unsigned int encode_net(struct ktau_slot_net *to,
			       const struct ktau_ring_slot *raw)
{
	memcpy(&to->local[0], &raw[1].ticks, sizeof(u64));
	memcpy(&to->local[8], &raw[1].arg, sizeof(u64));
	memcpy(&to->remote[0], &raw[2].ticks, sizeof(u64));
	memcpy(&to->remote[8], &raw[2].arg, sizeof(u64));
	to->local_port = KTAU_WHAT_SMALL(raw[1].what);
	to->remote_port = KTAU_WHAT_SMALL(raw[2].what);
	to->seq = raw->arg;
	to->bytes = raw->arg >> 32;
	to->nr_segments = KTAU_WHAT_SMALL(raw->what);
	to->tcp_flags = raw[1].count;
	to->net_flags = raw[1].count >> 8;
	to->net_ns = raw[2].count;
	to->ack = raw[2].cpu;
	return sizeof(*to) / sizeof(u64);
}

/* Encode the payload of a slot and its continuation slots. Return: its size in words. */
static unsigned int encode_payload(void *to, const struct ktau_ring_slot *raw)
{
	/* Most are calls, and the compiler makes no jump tables in a kernel with retpolines. */
	if (is_call(KTAU_WHAT_TYPE(raw->what)))
		return has_arg(raw) ? encode_word(to, raw->arg) : 0;
	switch (KTAU_WHAT_TYPE(raw->what)) {
	case KTAU_TRACE_COUNT:
	case KTAU_TRACE_TASK_EXIT:
	case KTAU_TRACE_CGROUP:
	case KTAU_TRACE_GROUPS:
		return encode_word(to, raw->arg);
	case KTAU_TRACE_SWITCH:
		return encode_switch(to, raw);
	case KTAU_TRACE_WAKING:
		return encode_waking(to, raw);
	case KTAU_TRACE_WOKEN:
		return encode_woken(to, raw);
	case KTAU_TRACE_KVM_ENTER:
	case KTAU_TRACE_KVM_EXIT:
		return encode_kvm(to, raw);
	case KTAU_TRACE_KVM_CLOCK:
		return encode_kvm_clock(to, raw);
	case KTAU_TRACE_FORK:
		return encode_fork(to, raw);
	case KTAU_TRACE_EXEC:
		return encode_comm(to, raw) +
		       encode_word((u64 *)to + 2, raw->arg);
	case KTAU_TRACE_COMM:
		return encode_comm(to, raw);
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		return encode_net(to, raw);
	}
	return 0;
}

/* Return: the size of the slot in bytes. */
static unsigned int encode(struct ktau_slot *slot, const struct ktau_ring_slot *raw)
{
	*slot = (struct ktau_slot) {
		.ticks = raw->ticks,
		.id = KTAU_ID_NONE,
		.type = KTAU_WHAT_TYPE(raw->what),
		.cpu = raw->cpu,
		.ctx = ktau_context(raw->count),
	};
	if (is_call(slot->type) || slot->type == KTAU_TRACE_COUNT)
		slot->id = KTAU_WHAT_SMALL(raw->what);
	slot->words = sizeof(*slot) / sizeof(u64) +
		      encode_payload(slot + 1, raw);
	return slot->words * sizeof(u64);
}

/* The same for an ENTER or EXIT. */
static unsigned int encode_call(struct ktau_slot *slot, const struct ktau_ring_slot *raw)
{
	unsigned int words = sizeof(*slot) / sizeof(u64);

	if (has_arg(raw))
		words += encode_word(slot + 1, raw->arg);
	*slot = (struct ktau_slot) {
		.ticks = raw->ticks,
		.id = KTAU_WHAT_SMALL(raw->what),
		.type = KTAU_WHAT_TYPE(raw->what),
		.words = words,
		.cpu = raw->cpu,
		.ctx = ktau_context(raw->count),
	};
	return words * sizeof(u64);
}

static u64 oldest(const struct ktau_ring *ring)
{
	return ktau_ring_oldest(ring, ktau_ring_head(ring));
}

/* The slots of the entry that begins with @raw. */
static unsigned int entry_slots(const struct ktau_ring_slot *raw)
{
	return KTAU_WHAT_TYPE(raw->what) == KTAU_TRACE_MORE ?
	       1 : 1 + KTAU_WHAT_MORE(raw->what);
}

/*
 * Copy the entry that begins with slot @nr, and committed slots after it. Return: 1, 0 if slot @nr
 * has been overwritten, -EAGAIN if the entry is never committed.
 */
static int copy_run(struct run *run, const struct ktau_ring *ring, u64 nr)
{
	const struct ktau_ring_slot *const slots = ring->slot, *from;
	const u32 mask = ring->mask;
	unsigned int i, needed = 1;

	smp_rmb();	/* @head was read before; pairs with ktau_ring_make_ready() */
	for (i = 0; i < RUN_SLOTS; i++) {
		from = &slots[(u32)(nr + i) & mask];
		if (!is_written(from, nr + i) &&
		    (i >= needed || !wait_written(from, nr + i)))
			break;
		smp_rmb();	/* pairs with ktau_slot_commit() */
		run->slot[i] = data_race(*from);	/* if torn, it is dropped below */
		if (!i)
			needed = entry_slots(run->slot);
	}
	run->nr = i;
	smp_rmb();	/* pairs with the barrier of a writer that has advanced @head */
	if (nr < oldest(ring))
		return 0;
	return i < needed ? -EAGAIN : 1;
}

/* Skip slots that have been overwritten, while @rec is still empty. */
static void skip_overwritten(struct ktau_rec_trace *rec, const struct ktau_ring *ring)
{
	rec->next = max(rec->next + 1, oldest(ring));
	rec->lost += rec->next - rec->first;
	rec->first = rec->next;
}

/* Skip a trace entry of @nr slots, while @rec is still empty. */
static void leave_out(struct ktau_rec_trace *rec, const struct ktau_ring_slot *raw,
		      unsigned int nr)
{
	if (KTAU_WHAT_TYPE(raw->what) == KTAU_TRACE_MORE) {
		rec->next++;	/* the first slot of the entry has been overwritten */
		rec->lost++;
	} else {
		rec->next += nr;
		rec->lost = 0;	/* lost slots are older than this one, which is too old */
	}
	rec->first = rec->next;
}

/* @from: the time of the last slot that was read before. */
static void note_loss(struct ktau_rec_trace *rec, u64 from)
{
	const struct ktau_slot *slot = (const struct ktau_slot *)(rec + 1);

	if (!rec->lost)
		return;
	rec->lost_from_ticks = from;
	rec->lost_to_ticks = rec->nr_slots ? slot->ticks : ktau_ticks();
}

static bool has_more(const struct ktau_rec_trace *rec, u32 max_bytes)
{
	return rec->next < rec->written &&
	       rec->slots_bytes + KTAU_SLOT_MAX_BYTES <= max_bytes;
}

static bool is_continuation(const struct ktau_ring_slot *raw)
{
	return KTAU_WHAT_TYPE(raw->what) == KTAU_TRACE_MORE;
}

/* Skip what @rec, which is empty, may not begin with. Return: where to continue. */
static const struct ktau_ring_slot *skip_run(struct ktau_rec_trace *rec, const struct run *run,
					     u64 since)
{
	const struct ktau_ring_slot *raw = run->slot, *end = raw + run->nr;
	unsigned int nr;

	for (; raw < end && rec->next < rec->written; raw += nr) {
		nr = entry_slots(raw);
		if (nr > end - raw || (!is_continuation(raw) && raw->ticks >= since))
			break;
		leave_out(rec, raw, nr);
	}
	return raw;
}

/*
 * Append the entries of @run, or skip them while @rec is empty. Return: false if @rec ends before
 * the first one.
 */
static bool take_run(struct ktau_rec_trace *rec, const struct run *run,
		     struct ktau_reach *reach, u32 max_bytes)
{
	const struct ktau_ring_slot *raw = run->slot, *end = raw + run->nr, *begin, *until;
	u8 *const first = (u8 *)(rec + 1), *const last = first + max_bytes - KTAU_SLOT_MAX_BYTES;
	u8 *to = first + rec->slots_bytes;
	unsigned int nr, nr_slots = rec->nr_slots;

	if (!nr_slots)
		raw = skip_run(rec, run, reach->since_ticks);
	begin = raw;
	until = rec->next < rec->written ?
		raw + min_t(u64, end - raw, rec->written - rec->next) : raw;
	for (; raw < until && to <= last && !is_continuation(raw); raw += nr) {
		nr = entry_slots(raw);
		if (nr > end - raw)
			break;
		to += encode((struct ktau_slot *)to, raw);
		nr_slots++;
		reach->ticks = raw->ticks;
	}
	rec->next += raw - begin;
	rec->slots_bytes = to - first;
	rec->nr_slots = nr_slots;
	return raw != run->slot;
}

/*
 * Append the calls that follow in the ring to @rec, which is not empty, up to another slot, or one
 * that is not committed.
 */
static void take_calls(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
		       struct ktau_reach *reach, u32 max_bytes)
{
	u8 *const first = (u8 *)(rec + 1), *const last = first + max_bytes - KTAU_SLOT_MAX_BYTES;
	const u64 begin = rec->next, end = min(rec->written, begin + RUN_CALLS);
	const struct ktau_ring_slot *const slots = ring->slot, *from;
	u8 *to = first + rec->slots_bytes;
	const u32 mask = ring->mask;
	struct ktau_ring_slot raw;
	u64 nr, ticks = 0;

	smp_rmb();	/* @head was read before; pairs with ktau_ring_make_ready() */
	for (nr = begin; nr < end && to <= last; nr++) {
		from = &slots[(u32)nr & mask];
		if (!is_written(from, nr))
			break;
		smp_rmb();	/* pairs with ktau_slot_commit() */
		raw = data_race(*from);	/* if torn, it is taken back below */
		if (!is_call(KTAU_WHAT_TYPE(raw.what)))
			break;
		to += encode_call((struct ktau_slot *)to, &raw);
		ticks = raw.ticks;
	}
	smp_rmb();	/* pairs with the barrier of a writer that has advanced @head */
	if (nr == begin || begin < oldest(ring))
		return;
	rec->next = nr;
	rec->nr_slots += nr - begin;
	rec->slots_bytes = to - first;
	reach->ticks = ticks;
}

static void take_all_calls(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
			   struct ktau_reach *reach, u32 max_bytes)
{
	u64 before;

	do {
		before = rec->next;
		take_calls(rec, ring, reach, max_bytes);
	} while (rec->next == before + RUN_CALLS);
}

/*
 * Copy the slots from @rec->next up to @rec->written, until @max_bytes are used or the
 * writer overtakes. Return: 0, or -EAGAIN if there are none because the owner does not
 * commit one.
 */
static int copy_slots(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
		      struct ktau_reach *reach, u32 max_bytes)
{
	u64 begin = rec->next, from = max(reach->ticks, reach->since_ticks);
	struct run run;
	int ret;

	rec->next = max(begin, oldest(ring));
	rec->first = rec->next;
	rec->lost = rec->first - begin;
	while (has_more(rec, max_bytes)) {
		ret = copy_run(&run, ring, rec->next);
		if (ret <= 0 && rec->nr_slots)
			break;
		if (ret < 0)
			return ret;
		if (!ret)
			skip_overwritten(rec, ring);
		else if (!take_run(rec, &run, reach, max_bytes))
			break;
		else if (rec->nr_slots)
			take_all_calls(rec, ring, reach, max_bytes);
	}
	rec->written = max(rec->written, rec->next);
	note_loss(rec, from);
	return 0;
}

/**
 * ktau_snapshot_trace_bytes() - approximate size of all slots of a ring
 * @state: the owner of the ring
 *
 * Context: May sleep.
 * Return: Bytes for the current ring, which may grow; 0 without a ring.
 */
size_t ktau_snapshot_trace_bytes(struct ktau_state *state)
{
	struct ktau_ring *ring = ktau_ring_get(state);
	size_t bytes = ring ? ktau_ring_bytes(ring->size) : 0;

	ktau_ring_put(ring);
	return bytes;
}

/* Begin to read @ring at the position of the reader. */
static void find_start(struct ktau_rec_trace *rec, const struct ktau_ring *ring,
		       struct ktau_reach *reach)
{
	memset(rec, 0, sizeof(*rec));
	if (reach->ring != ring->serial) {
		reach->ring = ring->serial;
		reach->next = 0;
		reach->ticks = 0;
		reach->until = 0;
	}
	if (!reach->until)
		reach->until = ktau_ring_head(ring);
	/* Only one reader at a time consumes. */
	if (reach->consume)
		reach->ticks = ring->tail_ticks;
	rec->next = reach->consume ? ring->tail : reach->next;
	rec->written = ktau_ring_head(ring);
}

/*
 * Consume the slots in @rec, which are of the ring with @serial. Return: false if a write to
 * control has replaced that ring by an empty one. Then all its slots count as lost.
 */
static bool consume(struct ktau_state *state, u64 serial, const struct ktau_rec_trace *rec,
		    const struct ktau_reach *reach)
{
	struct ktau_ring *ring;
	bool same;

	raw_spin_lock(&state->ring_lock);
	ring = state->ring;		/* it may have grown */
	same = ring->serial == serial;
	if (same) {
		ring->tail = rec->next;
		ring->tail_ticks = reach->ticks;
		ktau_kvm_clock_due(state);
		if (rec->next >= reach->until)
			ktau_ring_rearm(ring);
	}
	raw_spin_unlock(&state->ring_lock);
	return same;
}

/* Copy the slots of @ring. Return: as ktau_snapshot_trace(), -ESTALE to begin again. */
static int copy_ring(struct ktau_rec_trace *rec, u32 max_bytes, struct ktau_state *state,
		     const struct ktau_ring *ring, struct ktau_reach *reach)
{
	int err;

	find_start(rec, ring, reach);
	err = copy_slots(rec, ring, reach, max_bytes);
	if (err)
		return err;
	if (reach->consume && !consume(state, ring->serial, rec, reach))
		return -ESTALE;
	reach->next = rec->next;
	rec->ring_slots = ring->size;
	return rec->next < reach->until;
}

/**
 * ktau_snapshot_trace() - copy the slots of a ring
 * @rec: where it goes
 * @max_bytes: room for slots after the fixed part, at least KTAU_SLOT_MAX_BYTES
 * @task: the live task that it belongs to, or NULL
 * @reach: position of the reader, kept between calls for one owner; for a new owner,
 *	zero except for @since_ticks and @consume. With @consume, copies the slots that
 *	no reader has consumed, and consumes them; without it, all slots in the ring
 *
 * A ring that replaces another one, other than by growing, begins with slot 0 again.
 *
 * The owner does not wait for a reader: the ring may be replaced while it is read.
 *
 * Context: May sleep.
 * Return: 1 if there are more slots to copy, 0 if not, -ENODATA without a ring, -EAGAIN
 * if the owner does not commit a slot.
 */
int ktau_snapshot_trace(struct ktau_rec_trace *rec, u32 max_bytes,
			struct ktau_state *state, struct task_struct *task,
			struct ktau_reach *reach)
{
	struct ktau_ring *ring;
	int ret;

	do {
		ring = ktau_ring_get(state);
		if (!ring)
			return -ENODATA;
		ret = copy_ring(rec, max_bytes, state, ring, reach);
		ktau_ring_put(ring);
	} while (ret == -ESTALE);
	if (ret < 0)
		return ret;
	rec->rec.type = KTAU_REC_TRACE;
	rec->rec.head = sizeof(*rec);
	rec->rec.size = sizeof(*rec) + rec->slots_bytes;
	rec->serial = state->serial;
	smp_rmb();	/* it includes what was lost before the last slot */
	rec->no_room = ktau_read(&state->no_room);
	if (task)
		rec->groups = READ_ONCE(task->ktau.mask) & KTAU_MASK_PUBLIC;
	return ret;
}
