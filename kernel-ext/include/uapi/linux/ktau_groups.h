/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The groups of KTAU, as KTAU_GROUP(symbol, name, bit). Define this macro before including the
 * file, which undefines it at its end so that it can be included several times. The first
 * nine groups are those of the original KTAU. CONFIG_KTAU_symbol enables a group at build
 * time. Bit 11 is unused. Only tasks execute the functions of a KTAU_TASK_GROUP(), which is a
 * KTAU_GROUP() unless it is defined, too.
 */
#ifndef KTAU_GROUP
#define KTAU_GROUP(symbol, name, bit)
#endif
#ifndef KTAU_TASK_GROUP
#define KTAU_TASK_GROUP(symbol, name, bit) KTAU_GROUP(symbol, name, bit)
#endif

KTAU_TASK_GROUP(SYSCALL, syscall, 0)		/* system calls */
KTAU_GROUP(IRQ, irq, 1)				/* interrupts */
KTAU_GROUP(BH, bh, 2)				/* softirqs, timers, work items */
KTAU_TASK_GROUP(SCHED, sched, 3)		/* time off the CPU and in the run queue */
KTAU_TASK_GROUP(EXCEPTION, exception, 4)	/* page faults and other exceptions */
KTAU_GROUP(SIGNAL, signal, 5)			/* signals */
KTAU_TASK_GROUP(SOCKET, socket, 6)		/* the socket layer */
KTAU_GROUP(TCP, tcp, 7)				/* TCP */
KTAU_GROUP(ICMP, icmp, 8)			/* ICMP */
KTAU_TASK_GROUP(WAIT, wait, 9)			/* functions in which tasks sleep or spin */
KTAU_GROUP(FUNC, func, 10)			/* functions hooked at run time */
KTAU_TASK_GROUP(KVM, kvm, 12)			/* guest mode */
KTAU_TASK_GROUP(ACCOUNT, account, 13)		/* user-to-kernel transitions */

#undef KTAU_GROUP
#undef KTAU_TASK_GROUP
