/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Virtual CPUs: a frame while the thread is in its guest, and in a trace the slots that show what
 * the guest did in that time. If the module kvm is not there, load.c leaves the programs out.
 */
#ifndef KTAU_BPF_KVM_H
#define KTAU_BPF_KVM_H

#include "before.h"
#include "kvm_clock.h"
#include "table.h"

/* Numbers of the kernel's interface */
#define KVM_ISA_VMX	1
#define VMX_FRAC_BITS	48
#define SVM_FRAC_BITS	32

/* The clock is compared with the timekeeper so often, in ns ... */
#define CHECK_EACH	1000000
/* ... and written again if it is wrong by so many ticks, or was written so long ago. */
#define WRONG_BY	64
#define WRITE_EACH	500000000

extern const void tk_fast_mono __ksym __weak;

static __always_inline bool is_tsc(struct clocksource *clock)
{
	char name[4] = "";

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(clock, name));
	return name[0] == 't' && name[1] == 's' && name[2] == 'c';
}

/* One of the two copies is not being changed. Return: false if the clock is not the TSC. */
static __noinline int read_timekeeper(struct kb_timekeeper *t)
{
	struct tk_fast *fast = (struct tk_fast *)&tk_fast_mono;
	struct tk_read_base *base;
	u32 seq;

	if (!t || !fast)
		return 0;
	seq = BPF_CORE_READ(fast, seq.seqcount.sequence);
	base = seq & 1 ? &fast->base[1] : &fast->base[0];
	t->tsc = BPF_CORE_READ(base, cycle_last);
	t->mult = BPF_CORE_READ(base, mult);
	t->shift = BPF_CORE_READ(base, shift);
	t->ns = BPF_CORE_READ(base, base) + (BPF_CORE_READ(base, xtime_nsec) >> (t->shift & 63));
	return is_tsc(BPF_CORE_READ(base, clock)) &&
	       BPF_CORE_READ(fast, seq.seqcount.sequence) == seq;
}

static __noinline int write_clock(struct kb_state *st, u32 vcpu, u64 now)
{
	if (!st)
		return 0;
	st->kvm_written = now;
	return trace_slot(st, now, KB_SLOT(KB_SLOT_KVM_CLOCK, KB_ID_ANY, 0, vcpu), st->kvm_offset,
			  st->kvm_ratio);
}

/* Write how the guest's counter follows from the clock, if it is due. */
static __noinline int trace_clock(struct kb_state *st, u32 vcpu, u64 offset, u64 ratio)
{
	struct kb_guest_tsc guest = {
		.offset = offset,
		.ratio = ratio,
		.frac_bits = bpf_core_type_exists(struct vcpu_svm) ? SVM_FRAC_BITS : VMX_FRAC_BITS,
	};
	struct kb_kvm_clock last, clock = {};
	struct kb_timekeeper t = {};
	u64 now = bpf_ktime_get_ns();
	s64 wrong;

	if (!st || (st->kvm_tsc_offset == offset && now - st->kvm_checked < CHECK_EACH))
		return 0;
	if (!read_timekeeper(&t) || !kb_make_kvm_clock(&clock, &t, &guest))
		return 0;
	last.offset = st->kvm_offset;
	last.ratio = st->kvm_ratio;
	wrong = kb_kvm_clock_at(&clock, now) - kb_kvm_clock_at(&last, now);
	if (!last.ratio || wrong > WRONG_BY || wrong < -WRONG_BY) {
		st->kvm_offset = clock.offset;
		st->kvm_ratio = clock.ratio;
		st->kvm_written = 0;
	}
	st->kvm_tsc_offset = offset;
	st->kvm_checked = now;
	return now - st->kvm_written < WRITE_EACH ? 0 : write_clock(st, vcpu, now);
}

/* End the frame of the guest, if it is the innermost one. */
static __noinline int leave_guest(struct kb_state *st, u64 clock, u64 own)
{
	struct moment now = { clock, own };
	u32 last, i;
	u64 excl;

	if (!st)
		return 0;
	last = st->depth - 1;
	i = last & (KB_NR_FRAMES - 1);
	if (last >= KB_NR_FRAMES || st->frames[i].id != KB_ID_GUEST)
		return 0;
	excl = own - st->frames[i].own_start - st->frames[i].child;
	if ((s64)excl > 0)
		st->guest_ns += excl;
	pop(st, &now, last);
	return tracing ? trace_slot(st, clock, KB_SLOT(KB_SLOT_EXIT, KB_ID_GUEST, 0, 0), 0, 0) : 0;
}

/* KVM may handle an exit and enter the guest again without telling. */
static __noinline int enter_guest(struct kb_state *st, u32 vcpu)
{
	struct moment now;
	u32 depth;

	if (!st || st->exited)
		return 0;
	if (st->unsettled)
		settle(st);
	read_clock(st, &now);
	leave_guest(st, now.clock, now.own);
	depth = st->depth;
	push(st, &now, KB_ID_GUEST);
	if (tracing && st->depth != depth)
		trace_slot(st, now.clock, KB_SLOT(KB_SLOT_ENTER, KB_ID_GUEST, 0, 0), 0, 0);
	if (tracing)
		trace_slot(st, now.clock, KB_SLOT(KB_SLOT_KVM_ENTER, KB_ID_ANY, 0, 0), vcpu, 0);
	return 0;
}

static __always_inline int enter_vcpu(struct kvm_vcpu *vcpu)
{
	struct kb_state *st = find_or_create(bpf_get_current_task_btf());
	u32 number = vcpu->vcpu_id;

	if (!st)
		return 0;
	task_begin(st);
	if (tracing)
		trace_clock(st, number, vcpu->arch.l1_tsc_offset, vcpu->arch.l1_tsc_scaling_ratio);
	enter_guest(st, number);
	task_end(st);
	return 0;
}

/* As KVM's own tracepoint finds it. */
static __always_inline u32 exit_reason(struct kvm_vcpu *vcpu, u32 isa)
{
	struct vcpu_svm *svm = (struct vcpu_svm *)vcpu;
	struct vcpu_vmx *vmx = (struct vcpu_vmx *)vcpu;

	if (isa != KVM_ISA_VMX)
		return bpf_core_type_exists(struct vcpu_svm) ?
			       BPF_CORE_READ(svm, vmcb, control.exit_code) :
			       0;
	if (bpf_core_field_exists(vmx->vt))
		return BPF_CORE_READ(vmx, vt.exit_reason.full);
	return bpf_core_field_exists(vmx->exit_reason) ? BPF_CORE_READ(vmx, exit_reason.full) : 0;
}

static __always_inline int exit_vcpu(struct kvm_vcpu *vcpu, u32 isa)
{
	struct kb_state *st = find(bpf_get_current_task_btf());
	u64 what = KB_SLOT(KB_SLOT_KVM_EXIT, KB_ID_ANY, 0, 0);
	struct moment now;
	u64 reason;

	if (!st || st->exited)
		return 0;
	task_begin(st);
	read_clock(st, &now);
	leave_guest(st, now.clock, now.own);
	if (tracing) {
		reason = exit_reason(vcpu, isa);
		trace_slot(st, now.clock, what, reason << 32 | (u32)vcpu->vcpu_id, 0);
	}
	task_end(st);
	return 0;
}

#endif /* KTAU_BPF_KVM_H */
