/* SPDX-License-Identifier: GPL-2.0-only */
/* What an event says about a wait: events are classified by their names. */
#ifndef KTAU_TOOLS_PATH_CAUSE_H
#define KTAU_TOOLS_PATH_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <ktau.h>

/* The index of no task. */
#define PATH_NONE UINT32_MAX

/* The state of a task for a time. The order is that of no output. */
enum path_state {
	PATH_RUNNING,
	PATH_RUN_QUEUE,
	PATH_STOLEN,	/* running in a guest whose CPU the host has taken */
	PATH_UNKNOWN,
	PATH_TIMER,
	PATH_NETWORK,
	PATH_DISK,
	PATH_INPUT,
	PATH_DEVICE,
	PATH_RCU,
	PATH_IPI,
	PATH_INTERRUPT,	/* of no known kind */
	PATH_BLOCKED,	/* the cause is not known */
	PATH_STATES,
};

/* What an event is. */
enum path_class {
	CLASS_UNSEEN,		/* not classified yet */
	CLASS_OTHER,
	CLASS_WAIT,		/* the task gives up the CPU to wait: schedule_vol_* */
	CLASS_WAIT_IO,		/* ... for I/O */
	CLASS_PREEMPT,		/* it gives up the CPU, but stays runnable */
	CLASS_QUEUED,		/* from the wakeup to the CPU; part of a wait */
	CLASS_REGION,		/* region of a program */
	CLASS_THREAD,		/* outermost frame of a new task */
	CLASS_SLEEP,		/* system call that waits for a timer */
	CLASS_RECEIVE,		/* routine that waits for a TCP segment */
	CLASS_RX,		/* softirq that receives packets */
	CLASS_CAUSE,		/* CLASS_CAUSE + state: around a wakeup, the cause of it */
};

/* Classify @event; NULL is an event without a name. */
unsigned int cause_classify(const struct ktau_rec_event *event);

/* The state of a wait that an interrupt of class @class has ended; PATH_STATES: not known. */
enum path_state cause_state(unsigned int class);

/* "RUN QUEUE". */
const char *cause_name(enum path_state state);

#endif
