// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names, groups and sources of the events of the BPF source. */
#include <stdio.h>
#include <string.h>

#include <linux/ktau.h>

#include "names.h"
#include "state.h"
#include "syscalls.h"

static const struct {
	uint32_t id;
	uint32_t group;
	const char *name;
} statics[] = {
	{ KB_ID_PAGE_FAULT_USER, KTAU_GROUP_EXCEPTION, "page_fault_user" },
	{ KB_ID_SCHEDULE, KTAU_GROUP_SCHED, "schedule" },
	{ KB_ID_SCHEDULE_WAIT, KTAU_GROUP_SCHED, "schedule_wait" },
	{ KB_ID_SCHEDULE_VOL_INTERRUPTIBLE, KTAU_GROUP_SCHED, "schedule_vol_interruptible" },
	{ KB_ID_SCHEDULE_VOL_UNINTERRUPTIBLE, KTAU_GROUP_SCHED, "schedule_vol_uninterruptible" },
	{ KB_ID_SCHEDULE_VOL_IO, KTAU_GROUP_SCHED, "schedule_vol_io" },
	{ KB_ID_SCHEDULE_VOL_IDLE, KTAU_GROUP_SCHED, "schedule_vol_idle" },
	{ KB_ID_SCHEDULE_VOL_STOPPED, KTAU_GROUP_SCHED, "schedule_vol_stopped" },
	{ KB_ID_OTHER_IRQ, KTAU_GROUP_IRQ, "irq:other" },
	{ KB_ID_OTHER_COMPAT, KTAU_GROUP_SYSCALL, "compat:other" },
	{ KB_ID_NONE, KTAU_GROUP_SYSCALL, "sys_none" },
	{ KB_ID_SIGNAL_GENERATE, KTAU_GROUP_SIGNAL, "signal_generate" },
	{ KB_ID_SIGNAL_DELIVER, KTAU_GROUP_SIGNAL, "signal_deliver" },
	{ KB_ID_TCP_SENDMSG, KTAU_GROUP_TCP, "tcp_sendmsg" },
	{ KB_ID_TCP_RECVMSG, KTAU_GROUP_TCP, "tcp_recvmsg" },
	{ KB_ID_GUEST, KTAU_GROUP_KVM, "guest" },
	{ KB_ID_VECTOR + KB_LOCAL_TIMER, KTAU_GROUP_IRQ, "sysvec_apic_timer_interrupt" },
	{ KB_ID_VECTOR + KB_RESCHEDULE, KTAU_GROUP_IRQ, "sysvec_reschedule_ipi" },
	{ KB_ID_VECTOR + KB_CALL_FUNCTION, KTAU_GROUP_IRQ, "sysvec_call_function" },
	{ KB_ID_VECTOR + KB_CALL_FUNCTION_SINGLE, KTAU_GROUP_IRQ, "sysvec_call_function_single" },
	{ KB_ID_VECTOR + KB_IRQ_WORK, KTAU_GROUP_IRQ, "sysvec_irq_work" },
};

static const char *const softirqs[KB_NR_SOFTIRQS] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
	"RCU"
};

/* irq:LINE:HANDLER, printable and without blanks */
static void line_name(uint32_t line, char *name, size_t size)
{
	char path[64], handler[64] = "";
	FILE *file;
	char *c;

	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", (unsigned int)line);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(handler, sizeof(handler), file))
			handler[0] = 0;
		fclose(file);
	}
	handler[strcspn(handler, ",\n")] = 0;
	for (c = handler; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '_';
	snprintf(name, size, "irq:%u:%s", (unsigned int)line, *handler ? handler : "unknown");
}

void ktau__bpf_event(uint32_t id, struct ktau__event_facts *facts)
{
	size_t i;

	memset(facts, 0, sizeof(*facts));
	facts->source = KTAU_SOURCE_STATIC;
	for (i = 0; i < sizeof(statics) / sizeof(*statics); i++) {
		if (statics[i].id != id)
			continue;
		facts->group = statics[i].group;
		snprintf(facts->name, sizeof(facts->name), "%s", statics[i].name);
		return;
	}
	if (id < KB_ID_SYSCALLS) {
		facts->source = KTAU_SOURCE_SYSCALL;
		facts->group = KTAU_GROUP_SYSCALL;
		facts->key = id;
		ktau__syscall_name(id, facts->name, sizeof(facts->name));
	} else if (id >= KB_ID_SOFTIRQ && id < KB_ID_SOFTIRQ + KB_NR_SOFTIRQS) {
		facts->group = KTAU_GROUP_BH;
		snprintf(facts->name, sizeof(facts->name), "softirq:%s",
			 softirqs[id - KB_ID_SOFTIRQ]);
	} else if (id >= KB_ID_IRQ) {
		facts->source = KTAU_SOURCE_IRQ;
		facts->group = KTAU_GROUP_IRQ;
		facts->key = id - KB_ID_IRQ;
		line_name(id - KB_ID_IRQ, facts->name, sizeof(facts->name));
	} else {
		facts->group = KTAU_GROUP_SYSCALL;
		snprintf(facts->name, sizeof(facts->name), "event:%u", (unsigned int)id);
	}
}
