// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages: an MPI program of two processes that exchange messages by all kinds of requests. It
 * prints the events that the trace of each thread must have, in their order:
 *
 *	event TID MPI send BYTES peer RANK
 *	event TID MPI receive BYTES peer RANK
 *	event TID MPI untracked NUMBER
 *
 * Tags and sizes differ, so that it is known which message a request receives.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

#define MAX	8
#define ROUNDS	100
#define MANY	3000

static int rank, other, buffer[2][MAX][MAX], nr_untracked;
static FILE *events;
static char *text;
static size_t bytes;

/* The next allocation of the thread fails; after the next PMPI_Irecv(). */
static __thread bool no_memory, no_memory_later;

static __thread MPI_Request *reuse;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);

void *malloc(size_t size)
{
	const bool fails = no_memory;

	no_memory = false;
	return fails ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	const bool fails = no_memory;

	no_memory = false;
	return fails ? NULL : __libc_calloc(nr, size);
}

static void *next(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (!fn)
		abort();
	return fn;
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	       MPI_Request *request)
{
	int (*fn)(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
		  MPI_Request *request) = next("PMPI_Irecv");
	int err = fn(buf, count, type, source, tag, comm, request);

	no_memory = no_memory_later;
	no_memory_later = false;
	return err;
}

/* Message @i has tag @i and @i + 1 integers. */
static void irecv(int i, int source, MPI_Comm comm, MPI_Request *request)
{
	MPI_Irecv(buffer[0][i], i + 1, MPI_INT, source, i, comm, request);
}

/* Before a call returns, a new request may get the handle of one that has completed: @reuse. */
static void reuse_handle(void)
{
	if (reuse)
		irecv(1, MPI_ANY_SOURCE, MPI_COMM_SELF, reuse);
	reuse = NULL;
}

/* @completed: whether a request has completed */
#define REUSING(name, parameters, arguments, completed)	\
	int P##name parameters				\
	{						\
		int (*fn) parameters = next("P" #name);	\
		int err = fn arguments;			\
		if (completed)				\
			reuse_handle();			\
		return err;				\
	}

REUSING(MPI_Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status),
	*flag)
REUSING(MPI_Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),
	(count, requests, statuses), true)
REUSING(MPI_Testall, (int count, MPI_Request *requests, int *flag, MPI_Status *statuses),
	(count, requests, flag, statuses), *flag)
REUSING(MPI_Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
	(count, requests, index, status), true)
REUSING(MPI_Testany, (int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status),
	(count, requests, index, flag, status), *flag)
REUSING(MPI_Testsome, (int count, MPI_Request *requests, int *done, int *indices,
		       MPI_Status *statuses),
	(count, requests, done, indices, statuses), *done > 0)

/* MPI does not define the source of a receive that was cancelled. */
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	int (*fn)(MPI_Request *request, MPI_Status *status) = next("PMPI_Wait");
	int is_cancelled = 0, err = fn(request, status);

	if (status != MPI_STATUS_IGNORE)
		PMPI_Test_cancelled(status, &is_cancelled);
	if (is_cancelled)
		status->MPI_SOURCE = other;
	reuse_handle();
	return err;
}

/* The requests of MPI_Waitsome() may be in any order. */
int PMPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
	int (*fn)(int count, MPI_Request *requests, int *done, int *indices,
		  MPI_Status *statuses) = next("PMPI_Waitsome");
	int err = fn(count, requests, done, indices, statuses), i, index;
	MPI_Status status;

	for (i = 0; i < *done / 2; i++) {
		index = indices[i];
		indices[i] = indices[*done - 1 - i];
		indices[*done - 1 - i] = index;
		if (statuses == MPI_STATUSES_IGNORE)
			continue;
		status = statuses[i];
		statuses[i] = statuses[*done - 1 - i];
		statuses[*done - 1 - i] = status;
	}
	reuse_handle();
	return err;
}

/* Without a message, MPI does not define what it stores in @message; here, nothing. */
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
		 MPI_Status *status)
{
	int (*fn)(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
		  MPI_Status *status) = next("PMPI_Improbe");
	const MPI_Message old = *message;
	int err = fn(source, tag, comm, flag, message, status);

	if (!*flag)
		*message = old;
	return err;
}

static void sends(int nr, int peer)
{
	fprintf(events, "event %d MPI send %d peer %d\n", (int)gettid(), 4 * nr, peer);
}

static void receives(int nr, int peer)
{
	fprintf(events, "event %d MPI receive %d peer %d\n", (int)gettid(), 4 * nr, peer);
}

static void untracked(void)
{
	fprintf(events, "event %d MPI untracked %d\n", (int)gettid(), ++nr_untracked);
}

static void isend(int i, int dest, MPI_Comm comm, MPI_Request *request)
{
	if (comm == MPI_COMM_WORLD)
		sends(i + 1, dest);
	MPI_Isend(buffer[1][i], i + 1, MPI_INT, dest, i, comm, request);
}

static void send_all(int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		sends(i + 1, other);
		MPI_Send(buffer[1][i], i + 1, MPI_INT, other, i, MPI_COMM_WORLD);
	}
}

/* Post @nr receives, in the reverse order of the sends that follow. */
static void post(int nr, MPI_Request *requests)
{
	int i;

	for (i = 0; i < nr; i++)
		irecv(nr - 1 - i, i % 2 ? MPI_ANY_SOURCE : other, MPI_COMM_WORLD, &requests[i]);
}

static void wait_all(void)
{
	MPI_Request requests[2 * MAX];
	MPI_Status statuses[MAX];
	int i;

	for (i = 0; i < MAX - 2; i++)
		irecv(i, i % 2 ? MPI_ANY_SOURCE : other, MPI_COMM_WORLD, &requests[2 * i]);
	for (i = 0; i < MAX - 2; i++)
		isend(i, other, MPI_COMM_WORLD, &requests[2 * i + 1]);
	irecv(0, MPI_PROC_NULL, MPI_COMM_WORLD, &requests[2 * i]);
	requests[2 * i + 1] = MPI_REQUEST_NULL;
	MPI_Isend(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2 * i + 2]);
	MPI_Waitall(2 * i + 3, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < MAX - 2; i++)
		receives(i + 1, other);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);

	post(MAX, requests);
	send_all(0, MAX);
	MPI_Waitall(MAX, requests, statuses);
	for (i = 0; i < MAX; i++)
		receives(MAX - i, other);
}

static void wait_any(void)
{
	MPI_Request requests[MAX];
	int i, index;

	post(MAX, requests);
	send_all(0, MAX);
	for (i = 0; i < MAX; i++) {
		MPI_Waitany(MAX, requests, &index, MPI_STATUS_IGNORE);
		receives(MAX - index, other);
	}
	MPI_Waitany(MAX, requests, &index, MPI_STATUS_IGNORE);
}

static void wait_some(MPI_Status *statuses)
{
	MPI_Request requests[MAX];
	int i, round, done, indices[MAX];

	post(MAX, requests);
	send_all(0, 1);
	for (round = 0;; round++) {
		MPI_Waitsome(MAX, requests, &done, indices, statuses);
		if (done == MPI_UNDEFINED)
			return;
		for (i = 0; i < done; i++)
			receives(MAX - indices[i], other);
		if (!round)
			send_all(1, MAX);
	}
}

/* The first tests are likely to be in vain, because both processes send after them. */
static void test_loops(void)
{
	MPI_Request requests[MAX];
	int i, flag, index, done, indices[MAX];

	post(4, requests);
	MPI_Barrier(MPI_COMM_WORLD);
	for (flag = 0, i = 0; !flag; usleep(1000), i++) {
		MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
		if (flag)
			receives(4, other);
		if (!i)
			send_all(3, 4);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (flag = 0, i = 0; !flag; usleep(1000), i++) {
		MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
		if (flag)
			receives(4 - index, other);
		if (!i)
			send_all(2, 3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (flag = 0, i = 0; !flag; usleep(1000), i++) {
		MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
		if (flag) {
			receives(2, other);
			receives(1, other);
		}
		if (!i)
			send_all(0, 2);
	}
	MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	post(4, requests);
	send_all(0, 4);
	for (;; usleep(1000)) {
		MPI_Testsome(4, requests, &done, indices, MPI_STATUSES_IGNORE);
		if (done == MPI_UNDEFINED)
			return;
		for (i = 0; i < done; i++)
			receives(4 - indices[i], other);
	}
}

static void matched(void)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Request request;
	MPI_Status status;
	int flag = 0;

	send_all(2, 5);
	MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Improbe(0, 99, MPI_COMM_SELF, &flag, &message, &status);	/* none, see above */
	MPI_Mrecv(buffer[0], 3, MPI_INT, &message, MPI_STATUS_IGNORE);
	receives(3, other);
	MPI_Mprobe(other, 3, MPI_COMM_WORLD, &message, &status);
	MPI_Imrecv(buffer[0], 4, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	receives(4, other);
	for (; !flag; usleep(1000))
		MPI_Improbe(other, 4, MPI_COMM_WORLD, &flag, &message, &status);
	MPI_Imrecv(buffer[0], 5, MPI_INT, &message, &request);
	MPI_Wait(&request, &status);
	receives(5, other);
	MPI_Improbe(other, 99, MPI_COMM_WORLD, &flag, &message, &status);
	MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
	MPI_Mrecv(buffer[0], 1, MPI_INT, &message, &status);
}

#define SEND_INIT(kind, i)	\
	MPI_##kind(buffer[1][i], (i) + 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i])

static void persistent(void)
{
	static char attached[4 * (MPI_BSEND_OVERHEAD + 100)];
	MPI_Request requests[MAX + 1];
	int i, flag, size, round;
	void *detached;

	MPI_Buffer_attach(attached, sizeof(attached));
	SEND_INIT(Send_init, 0);
	SEND_INIT(Bsend_init, 1);
	SEND_INIT(Ssend_init, 2);
	SEND_INIT(Rsend_init, 3);
	for (i = 0; i < 4; i++)
		MPI_Recv_init(buffer[0][i], i + 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : other, i,
			      MPI_COMM_WORLD, &requests[4 + i]);
	MPI_Send_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[MAX]);
	for (round = 0; round < 3; round++) {
		MPI_Startall(4, requests + 4);
		MPI_Barrier(MPI_COMM_WORLD);
		for (i = 0; i < 4; i++)
			sends(i + 1, other);
		MPI_Startall(3, requests);
		MPI_Start(&requests[3]);
		MPI_Start(&requests[MAX]);
		MPI_Waitall(MAX + 1, requests, MPI_STATUSES_IGNORE);
		for (i = 0; i < 4; i++)
			receives(i + 1, other);
		MPI_Wait(&requests[5], MPI_STATUS_IGNORE);	/* inactive, as these */
		MPI_Test(&requests[6], &flag, MPI_STATUS_IGNORE);
		MPI_Waitall(MAX, requests, MPI_STATUSES_IGNORE);
	}
	for (i = 0; i < MAX + 1; i++)
		MPI_Request_free(&requests[i]);
	MPI_Buffer_detach(&detached, &size);
}

static void cancelled(void)
{
	MPI_Request requests[3];
	int i;

	for (i = 0; i < 3; i++) {
		irecv(7, other, MPI_COMM_WORLD, &requests[i]);
		MPI_Cancel(&requests[i]);
	}
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Waitall(1, &requests[1], MPI_STATUSES_IGNORE);
	MPI_Request_free(&requests[2]);
}

/* In @reversed, this process has the rank that the other one has in MPI_COMM_WORLD. */
static void freed_communicator(void)
{
	MPI_Request requests[3];
	MPI_Message message;
	MPI_Comm reversed;

	MPI_Comm_split(MPI_COMM_WORLD, 0, other, &reversed);
	MPI_Send_init(buffer[1][2], 3, MPI_INT, rank, 2, reversed, &requests[0]);
	irecv(1, MPI_ANY_SOURCE, reversed, &requests[1]);
	MPI_Recv_init(buffer[0][2], 3, MPI_INT, MPI_ANY_SOURCE, 2, reversed, &requests[2]);
	sends(1, other);
	MPI_Send(buffer[1][0], 1, MPI_INT, rank, 0, reversed);
	MPI_Mprobe(MPI_ANY_SOURCE, 0, reversed, &message, MPI_STATUS_IGNORE);
	MPI_Barrier(reversed);
	sends(2, other);
	MPI_Send(buffer[1][1], 2, MPI_INT, rank, 1, reversed);
	MPI_Comm_free(&reversed);
	sends(3, other);
	MPI_Startall(1, requests);
	MPI_Start(&requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	receives(2, other);
	receives(3, other);
	MPI_Mrecv(buffer[0], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	receives(1, other);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[2]);
}

static void other_communicators(void)
{
	MPI_Request requests[2], request;
	MPI_Comm inter;
	int index;

	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, other, 0, &inter);
	irecv(2, MPI_ANY_SOURCE, MPI_COMM_SELF, &requests[0]);
	irecv(3, MPI_ANY_SOURCE, inter, &requests[1]);
	sends(4, other);
	isend(3, 0, inter, &request);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	receives(4, other);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&inter);
	sends(3, rank);
	isend(2, 0, MPI_COMM_SELF, &request);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	receives(3, rank);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* So many that several of them are in each hash chain */
static void many(void)
{
	static MPI_Request requests[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		MPI_Irecv(buffer[0], MAX, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
	for (i = 0; i < MANY; i++) {
		sends(i % MAX, other);
		MPI_Send(buffer[1], i % MAX, MPI_INT, other, i, MPI_COMM_WORLD);
	}
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < MANY; i++)
		receives(i % MAX, other);
}

/* A message that is longer than the buffer is not received, but those next to it are. */
static void truncated(void)
{
	MPI_Request requests[3];
	int err = MPI_SUCCESS, flag = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	irecv(1, other, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(buffer[0], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
	irecv(3, other, MPI_COMM_WORLD, &requests[2]);
	MPI_Barrier(MPI_COMM_WORLD);
	send_all(1, 4);
	while (!err && !flag)	/* because MPI_Waitall() of Open MPI may hang */
		err = MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
	if (err != MPI_ERR_IN_STATUS)
		printf("no error of a message that is too long\n");
	receives(2, other);
	receives(4, other);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Requests that are freed before and after their messages have arrived */
static void freed(void)
{
	MPI_Request requests[2];
	int done = 0;

	irecv(0, other, MPI_COMM_WORLD, &requests[0]);
	irecv(1, other, MPI_COMM_WORLD, &requests[1]);
	MPI_Request_free(&requests[0]);
	untracked();
	MPI_Barrier(MPI_COMM_WORLD);
	send_all(0, 2);
	while (!done)
		MPI_Request_get_status(requests[1], &done, MPI_STATUS_IGNORE);
	MPI_Request_free(&requests[1]);
	receives(2, other);
}

static void without_memory(void)
{
	MPI_Request requests[3];

	irecv(0, other, MPI_COMM_WORLD, &requests[0]);
	no_memory_later = true;
	irecv(1, other, MPI_COMM_WORLD, &requests[1]);
	untracked();
	irecv(2, other, MPI_COMM_WORLD, &requests[2]);
	send_all(0, 3);
	no_memory = true;
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	untracked();
	untracked();
}

enum { WAIT, TEST, WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, NR_WAYS };

/* Return: whether @request has completed. */
static int complete_by(int way, MPI_Request *request)
{
	int flag = 1, index;

	switch (way) {
	case WAIT:
		MPI_Wait(request, MPI_STATUS_IGNORE);
		break;
	case TEST:
		MPI_Test(request, &flag, MPI_STATUS_IGNORE);
		break;
	case WAITALL:
		MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
		break;
	case TESTALL:
		MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
		break;
	case WAITANY:
		MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
		break;
	case TESTANY:
		MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
		break;
	case WAITSOME:
		MPI_Waitsome(1, request, &flag, &index, MPI_STATUSES_IGNORE);
		break;
	case TESTSOME:
		MPI_Testsome(1, request, &flag, &index, MPI_STATUSES_IGNORE);
		break;
	}
	return flag;
}

static void reused(int way)
{
	MPI_Request request, requests[2];

	irecv(0, other, MPI_COMM_WORLD, &request);
	send_all(0, 1);
	reuse = &requests[0];
	while (!complete_by(way, &request))
		usleep(1000);
	receives(1, other);
	sends(2, rank);
	isend(1, 0, MPI_COMM_SELF, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	receives(2, rank);
}

static void *complete(void *arg)
{
	MPI_Request *request = arg;

	MPI_Wait(request, MPI_STATUS_IGNORE);
	receives(1, other);
	irecv(1, other, MPI_COMM_WORLD, request);
	return NULL;
}

/* A thread completes what another one has created. */
static void handed_over(void)
{
	MPI_Request request;
	pthread_t thread;

	irecv(0, other, MPI_COMM_WORLD, &request);
	send_all(0, 2);
	pthread_create(&thread, NULL, complete, &request);
	pthread_join(thread, NULL);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	receives(2, other);
}

/* Each thread has a communicator with another peer. */
static void *exchange(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;
	int i, size, sent = 0, received = 0, here, peer;
	MPI_Request requests[2];

	MPI_Comm_size(comm, &size);
	MPI_Comm_rank(comm, &here);
	peer = size == 1 ? rank : other;
	for (i = 0; i < ROUNDS; i++) {
		MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &requests[0]);
		sends(1, peer);
		MPI_Isend(&sent, 1, MPI_INT, size - 1 - here, 0, comm, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		receives(1, peer);
	}
	return NULL;
}

static void threads(void)
{
	MPI_Comm comm[2];
	pthread_t thread[2];
	int i;

	MPI_Comm_dup(MPI_COMM_SELF, &comm[0]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, other, &comm[1]);
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, exchange, &comm[i]);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < 2; i++)
		MPI_Comm_free(&comm[i]);
}

/* One process prints all, because mpirun may mix lines. This message has no event. */
static void print(void)
{
	MPI_Status status;
	int nr_bytes;
	char *more;

	if (rank) {
		PMPI_Send(text, (int)bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		return;
	}
	fputs(text, stdout);
	PMPI_Probe(1, 0, MPI_COMM_WORLD, &status);
	PMPI_Get_count(&status, MPI_CHAR, &nr_bytes);
	more = malloc((size_t)nr_bytes);
	if (!more)
		abort();
	PMPI_Recv(more, nr_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("%.*s", nr_bytes, more);
	free(more);
}

int main(int argc, char **argv)
{
	MPI_Status statuses[MAX];
	int level, way;

	events = open_memstream(&text, &bytes);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	wait_all();
	wait_any();
	wait_some(MPI_STATUSES_IGNORE);
	wait_some(statuses);
	test_loops();
	matched();
	persistent();
	cancelled();
	freed_communicator();
	other_communicators();
	truncated();
	freed();
	many();
	without_memory();
	for (way = 0; way < NR_WAYS; way++)
		reused(way);
	if (level == MPI_THREAD_MULTIPLE) {
		handed_over();
		threads();
	}
	fclose(events);
	print();
	MPI_Finalize();
	return 0;
}
