// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MPI calls with requests and matched probes. As an event, a message is received when the call
 * that completes its request returns, and sent when a persistent request is started. A request
 * that cannot be tracked is counted by the event "MPI untracked".
 *
 * The prototypes are the same in every implementation. Calls that only create or free a request
 * are no regions.
 */
#include <stdlib.h>

#include <mpi.h>

#include "ktau_user.h"
#include "mpi_message.h"
#include "mpi_pending.h"

static struct ktau__mpi_table receives = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct ktau__mpi_table messages = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Only persistent ones. */
static struct ktau__mpi_table sends = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The value is the number of requests of the process that have been lost so far. */
static void note_untracked(void)
{
	static struct ktau_user_point untracked = { "MPI untracked", 0 };
	static uint64_t nr;

	ktau_user_value(&untracked, __atomic_add_fetch(&nr, 1, __ATOMIC_RELAXED));
}

/* Return: a new entry for a table, NULL if there is none. */
static struct ktau__mpi_pending *track(int peer, uintptr_t handle)
{
	struct ktau__mpi_pending *p;

	if (peer == MPI_PROC_NULL || !ktau_user_is_traced())
		return NULL;
	p = ktau__mpi_pending(handle);
	if (!p)
		note_untracked();
	return p;
}

static void add_receive(struct ktau__mpi_table *t, uintptr_t handle, int source, MPI_Comm comm)
{
	struct ktau__mpi_pending *p = track(source, handle);

	if (!p)
		return;
	p->peers = ktau__mpi_get_peers(comm);
	ktau__mpi_put(t, p);
}

static void add_send(uintptr_t handle, int count, MPI_Datatype datatype, int dest, MPI_Comm comm)
{
	struct ktau__mpi_pending *p = track(dest, handle);

	if (!p)
		return;
	p->message = ktau__mpi_message(count, datatype, dest, comm);
	ktau__mpi_put(&sends, p);
}

/*
 * A call that completes requests has returned @err. Note the message of one of them, whose status
 * has index @i. If there was no memory for statuses, it is untracked.
 */
static void note_one(const struct ktau__mpi_pending *p, int err, const MPI_Status *statuses, int i)
{
	if (err != MPI_SUCCESS && err != MPI_ERR_IN_STATUS)
		return;
	if (statuses == MPI_STATUSES_IGNORE)
		note_untracked();
	else if (err == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_SUCCESS)
		ktau__mpi_note_receive(&statuses[i], p->peers);
}

static void note_all(const struct ktau__mpi_pending *list, int err, const MPI_Status *statuses)
{
	for (; list; list = list->next)
		note_one(list, err, statuses, list->index);
}

static void note_any(const struct ktau__mpi_pending *list, int err, int index,
		     const MPI_Status *status)
{
	while (list && list->index != index)
		list = list->next;
	if (list)
		note_one(list, err, status, 0);
}

/* Linear if @indices ascend, which MPI does not require. */
static void note_some(const struct ktau__mpi_pending *list, int err, int count, const int *indices,
		      const MPI_Status *statuses)
{
	const struct ktau__mpi_pending *p = list;
	int i;

	for (i = 0; i < count; i++) {
		if (!p || p->index > indices[i])
			p = list;
		while (p && p->index < indices[i])
			p = p->next;
		if (p && p->index == indices[i])
			note_one(p, err, statuses, i);
	}
}

/* The status that MPI has to store for @p: that of the program, or @own if it wants none. */
static MPI_Status *need_status(const struct ktau__mpi_pending *p, MPI_Status *wanted,
			       MPI_Status *own)
{
	return p && wanted == MPI_STATUS_IGNORE ? own : wanted;
}

/* The same for an array; the caller frees @own. */
static MPI_Status *need_statuses(const struct ktau__mpi_pending *list, int count,
				 MPI_Status *wanted, MPI_Status **own)
{
	*own = NULL;
	if (!list || wanted != MPI_STATUSES_IGNORE)
		return wanted;
	*own = calloc((size_t)count, sizeof(**own));
	return *own ? *own : wanted;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	KTAU_USER_SCOPE("MPI_Irecv");
	int err = PMPI_Irecv(buf, count, datatype, source, tag, comm, request);

	if (err == MPI_SUCCESS)
		add_receive(&receives, (uintptr_t)*request, source, comm);
	return err;
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		  MPI_Request *request)
{
	int err = PMPI_Recv_init(buf, count, datatype, source, tag, comm, request);

	if (err == MPI_SUCCESS)
		add_receive(&receives, (uintptr_t)*request, source, comm);
	return err;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Mprobe");
	int err = PMPI_Mprobe(source, tag, comm, message, status);

	if (err == MPI_SUCCESS)
		add_receive(&messages, (uintptr_t)*message, source, comm);
	return err;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
		MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Improbe");
	int err = PMPI_Improbe(source, tag, comm, flag, message, status);

	if (err == MPI_SUCCESS && *flag)
		add_receive(&messages, (uintptr_t)*message, source, comm);
	return err;
}

static struct ktau__mpi_pending *take_message(const MPI_Message *message)
{
	return message ? ktau__mpi_take(&messages, (uintptr_t)*message) : NULL;
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
	      MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Mrecv");
	struct ktau__mpi_pending *p = take_message(message);
	MPI_Status own;
	int err;

	status = need_status(p, status, &own);
	err = PMPI_Mrecv(buf, count, datatype, message, status);
	if (!p)
		return err;
	note_one(p, err, status, 0);
	ktau__mpi_settle(&messages, p, (uintptr_t)*message);
	return err;
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
	       MPI_Request *request)
{
	KTAU_USER_SCOPE("MPI_Imrecv");
	struct ktau__mpi_pending *p = take_message(message);
	int err = PMPI_Imrecv(buf, count, datatype, message, request);

	if (!p)
		return err;
	if (err == MPI_SUCCESS) {
		p->handle = (uintptr_t)*request;
		ktau__mpi_put(&receives, p);
	} else {
		ktau__mpi_settle(&messages, p, (uintptr_t)*message);
	}
	return err;
}

#define SEND_INIT(name)									\
	int name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,	\
		 MPI_Comm comm, MPI_Request *request)					\
	{										\
		int err = P##name(buf, count, datatype, dest, tag, comm, request);	\
		if (err == MPI_SUCCESS)							\
			add_send((uintptr_t)*request, count, datatype, dest, comm);	\
		return err;								\
	}

SEND_INIT(MPI_Send_init)
SEND_INIT(MPI_Bsend_init)
SEND_INIT(MPI_Ssend_init)
SEND_INIT(MPI_Rsend_init)

static void note_started(int count, MPI_Request requests[])
{
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&sends, count, requests), *p;

	for (p = list; p; p = p->next)
		ktau__mpi_note_send(&p->message);
	ktau__mpi_settle_all(&sends, list, requests);
}

int MPI_Start(MPI_Request *request)
{
	KTAU_USER_SCOPE("MPI_Start");
	note_started(1, request);
	return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
	KTAU_USER_SCOPE("MPI_Startall");
	note_started(count, requests);
	return PMPI_Startall(count, requests);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Wait");
	struct ktau__mpi_pending *p = ktau__mpi_take_all(&receives, 1, request);
	MPI_Status own;
	int err;

	status = need_status(p, status, &own);
	err = PMPI_Wait(request, status);
	note_all(p, err, status);
	ktau__mpi_settle_all(&receives, p, request);
	return err;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Test");
	struct ktau__mpi_pending *p = ktau__mpi_take_all(&receives, 1, request);
	MPI_Status own;
	int err;

	status = need_status(p, status, &own);
	err = PMPI_Test(request, flag, status);
	if (p && *flag)
		note_all(p, err, status);
	ktau__mpi_settle_all(&receives, p, request);
	return err;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
	KTAU_USER_SCOPE("MPI_Waitall");
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&receives, count, requests);
	MPI_Status *own;
	int err;

	statuses = need_statuses(list, count, statuses, &own);
	err = PMPI_Waitall(count, requests, statuses);
	note_all(list, err, statuses);
	ktau__mpi_settle_all(&receives, list, requests);
	free(own);
	return err;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	KTAU_USER_SCOPE("MPI_Testall");
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&receives, count, requests);
	MPI_Status *own;
	int err;

	statuses = need_statuses(list, count, statuses, &own);
	err = PMPI_Testall(count, requests, flag, statuses);
	if (list && *flag)
		note_all(list, err, statuses);
	ktau__mpi_settle_all(&receives, list, requests);
	free(own);
	return err;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Waitany");
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&receives, count, requests);
	MPI_Status own;
	int err;

	status = need_status(list, status, &own);
	err = PMPI_Waitany(count, requests, index, status);
	if (list)
		note_any(list, err, *index, status);
	ktau__mpi_settle_all(&receives, list, requests);
	return err;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	KTAU_USER_SCOPE("MPI_Testany");
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&receives, count, requests);
	MPI_Status own;
	int err;

	status = need_status(list, status, &own);
	err = PMPI_Testany(count, requests, index, flag, status);
	if (list && *flag)
		note_any(list, err, *index, status);
	ktau__mpi_settle_all(&receives, list, requests);
	return err;
}

static int complete_some(int (*call)(int count, MPI_Request *requests, int *done, int *indices,
				     MPI_Status *statuses),
			 int count, MPI_Request *requests, int *done, int *indices,
			 MPI_Status *statuses)
{
	struct ktau__mpi_pending *list = ktau__mpi_take_all(&receives, count, requests);
	MPI_Status *own;
	int err;

	statuses = need_statuses(list, count, statuses, &own);
	err = call(count, requests, done, indices, statuses);
	if (list)
		note_some(list, err, *done, indices, statuses);
	ktau__mpi_settle_all(&receives, list, requests);
	free(own);
	return err;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[],
		 MPI_Status *statuses)
{
	KTAU_USER_SCOPE("MPI_Waitsome");
	return complete_some(PMPI_Waitsome, count, requests, done, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
		 MPI_Status *statuses)
{
	KTAU_USER_SCOPE("MPI_Testsome");
	return complete_some(PMPI_Testsome, count, requests, done, indices, statuses);
}

/* A message that has already arrived is received here; one that arrives later has no event. */
static void note_freed(MPI_Request request, const struct ktau__mpi_pending *p)
{
	MPI_Status status = { .MPI_ERROR = MPI_SUCCESS };
	int done = 0;

	if (PMPI_Request_get_status(request, &done, &status) == MPI_SUCCESS && done)
		note_one(p, MPI_ERR_IN_STATUS, &status, 0);
	else
		note_untracked();
}

int MPI_Request_free(MPI_Request *request)
{
	struct ktau__mpi_pending *receive = ktau__mpi_take_all(&receives, 1, request);
	struct ktau__mpi_pending *send = ktau__mpi_take_all(&sends, 1, request);
	int err;

	if (receive)
		note_freed(*request, receive);
	err = PMPI_Request_free(request);
	ktau__mpi_settle_all(&receives, receive, request);
	ktau__mpi_settle_all(&sends, send, request);
	return err;
}
