// SPDX-License-Identifier: GPL-2.0-only
/*
 * segments [USER]: whose TCP segments a trace tells of, to USER or to who starts it. What
 * a softirq has taken may be anybody's, so that only who may see all is told: to others
 * its slots say neither addresses nor numbers. To be run with groups=tcp trace=on.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own.h"

#define ROUNDS 20

/* Slots of segments; and those with a figure of theirs. */
static unsigned int of_task, of_softirq, told_of_task, told_of_softirq;

static bool tells(const struct ktau_slot *slot)
{
	const struct ktau_slot_more *more = (const void *)(slot + 1);
	bool any = slot->arg;
	unsigned int i;

	for (i = 0; i < slot->more; i++)
		any |= more[i].data[0] || more[i].data[1] || more[i].small || more[i].small2;
	return any;
}

static void look_at(const struct ktau_rec_trace *trace)
{
	const struct ktau_slot *slots = ktau_trace_slots(trace);
	uint32_t i;

	for (i = 0; i < trace->nr_slots; i++) {
		if (slots[i].type != KTAU_TRACE_NET_SEND && slots[i].type != KTAU_TRACE_NET_RECV)
			continue;
		if (slots[i].ctx == KTAU_CTX_TASK) {
			of_task++;
			told_of_task += tells(&slots[i]);
		} else {
			of_softirq++;
			told_of_softirq += tells(&slots[i]);
		}
	}
}

static void read_own_trace(void)
{
	const struct ktau_query query = {
		.content = KTAU_REC_TRACE, .target = KTAU_TARGET_SELF,
	};
	struct ktau_reader *reader;
	union ktau_record record;
	int err = ktau_reader_create(&reader);

	if (!err)
		err = ktau_reader_open_live(reader, &query);
	while (!err && (err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_TRACE)
			look_at(record.trace);
		err = 0;
	}
	if (err)
		own_die("/proc/ktau/trace", err);
	ktau_reader_destroy(reader);
}

int main(int argc, char **argv)
{
	uid_t user = argc > 1 ? (uid_t)atoi(argv[1]) : 0;
	char byte[ROUNDS] = "";
	int end[2], i;

	own_connection(end);
	if (user && setresuid(user, user, user))
		own_die(argv[1], -errno);
	for (i = 0; i < ROUNDS; i++)
		if (write(end[0], byte, 1 + i) != 1 + i || read(end[1], byte, 1 + i) != 1 + i)
			own_die("connection", -errno);
	read_own_trace();
	printf("%s - segments: %u of the task's own, %u of softirqs\n",
	       of_task >= ROUNDS && of_softirq >= ROUNDS ? "ok" : "not ok", of_task, of_softirq);
	own_expect("segments: own ones told", told_of_task, of_task);
	own_expect("segments: those of softirqs told", told_of_softirq, user ? 0 : of_softirq);
	return own_failures || of_task < ROUNDS || of_softirq < ROUNDS;
}
