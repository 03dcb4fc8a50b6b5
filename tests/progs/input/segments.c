// SPDX-License-Identifier: GPL-2.0-only
/*
 * segments [USER]: check which TCP segments a trace shows to USER, or to the calling user.
 * A softirq may handle segments of any task. So only a privileged reader gets their
 * addresses and sequence numbers; in other readers' slots of softirqs these are zero. Run
 * with groups=tcp trace=on and, for a USER, kernel.ktau_paranoid=0.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define ROUNDS 20

/* Slots of segments, and those whose payload is not zero. */
static unsigned int of_task, of_softirq, shown_of_task, shown_of_softirq;

static bool shows(const struct ktau_slot *slot)
{
	static const struct ktau_slot_net nothing;
	struct ktau_slot_net net;

	return ktau_slot_net(slot, &net) && memcmp(&net, &nothing, sizeof(net));
}

static void look_at(const struct ktau_rec_trace *trace)
{
	const struct ktau_slot *slot = NULL;

	while ((slot = ktau_trace_next(trace, slot))) {
		if (slot->type != KTAU_TRACE_NET_SEND && slot->type != KTAU_TRACE_NET_RECV)
			continue;
		if (slot->ctx == KTAU_CTX_TASK) {
			of_task++;
			shown_of_task += shows(slot);
		} else {
			of_softirq++;
			shown_of_softirq += shows(slot);
		}
	}
}

static void read_own_trace(void)
{
	const struct ktau_query query = {
		.content = KTAU_REC_TRACE,
		.target = KTAU_TARGET_SELF,
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
		self_die(ktau_reader_error(reader), err);
	ktau_reader_destroy(reader);
}

int main(int argc, char **argv)
{
	uid_t user = argc > 1 ? (uid_t)atoi(argv[1]) : 0;
	char byte[ROUNDS] = "";
	int end[2], i;

	self_connection(end);
	if (user && setresuid(user, user, user))
		self_die(argv[1], -errno);
	for (i = 0; i < ROUNDS; i++)
		if (write(end[0], byte, 1 + i) != 1 + i || read(end[1], byte, 1 + i) != 1 + i)
			self_die("connection", -errno);
	read_own_trace();
	tap_ok(of_task >= ROUNDS && of_softirq >= ROUNDS,
	       "segments: %u of the task's own, %u of softirqs", of_task, of_softirq);
	self_expect("segments: the task's own segments are shown", shown_of_task, of_task);
	self_expect("segments: softirqs' segments are shown", shown_of_softirq,
		    user ? 0 : of_softirq);
	return tap_done();
}
