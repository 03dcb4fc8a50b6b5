// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: the life of a session. */
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>

#include "base/memory.h"
#include "base/user.h"
#include "measure/state.h"
#include "session.h"

static atomic64_t last_id;

static size_t queue_bytes(u32 nr_units)
{
	return (size_t)nr_units * KTAU_QUEUE_UNIT;
}

static bool create_queue(struct ktau_session *session)
{
	u32 nr_units = roundup_pow_of_two(session->request.ring_slots);
	void *memory = ktau_alloc(session->user, queue_bytes(nr_units), GFP_KERNEL_ACCOUNT);

	if (memory)
		ktau_queue_init(&session->queue, memory, nr_units);
	return memory;
}

/**
 * ktau_session_create() - create a session without spaces
 * @request: what is requested, with defaults filled in
 * @ns: pid namespace of the opener
 * @privileged: the opener may trace everything
 *
 * Its memory is charged to the current credentials' user.
 *
 * Context: May sleep.
 * Return: The session, or NULL without memory.
 */
struct ktau_session *ktau_session_create(const struct ktau_references *request,
					 struct pid_namespace *ns, bool privileged)
{
	struct ktau_user *user = ktau_user_find(ktau_user_uid(current_cred()));
	struct ktau_session *session;

	if (!user)
		return NULL;
	session = ktau_alloc(user, sizeof(*session), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!session)
		goto put_user;
	session->user = user;
	session->request = *request;
	if (!create_queue(session))
		goto free;
	refcount_set(&session->ref, 1);
	session->id = atomic64_inc_return(&last_id);
	session->serial = ktau_serial_next();
	session->ns = get_pid_ns(ns);
	session->privileged = privileged;
	session->first_page = request->lo >> PAGE_SHIFT;
	session->end_page = request->hi ? request->hi >> PAGE_SHIFT : ULONG_MAX;
	spin_lock_init(&session->lock);
	INIT_LIST_HEAD(&session->spaces);
	return session;

free:
	ktau_free(user, session, sizeof(*session));
put_user:
	ktau_user_put(user);
	return NULL;
}

/**
 * ktau_session_put() - drop a reference
 *
 * Context: May sleep.
 */
void ktau_session_put(struct ktau_session *session)
{
	struct ktau_user *user = session->user;

	if (!refcount_dec_and_test(&session->ref))
		return;
	put_pid_ns(session->ns);
	ktau_free(user, session->queue.units, queue_bytes(session->queue.nr_units));
	ktau_free(user, session, sizeof(*session));
	ktau_user_put(user);
}
