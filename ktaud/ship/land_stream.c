// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "land_stream.h"
#include "log.h"
#include "nats_options.h"

#define NS 1000000000LL
#define BATCH 512
#define BATCH_BYTES (16 << 20)
#define DAY_NS (86400 * NS)
#define HAVE_BYTES (256LL << 20)
/* The server keeps ids of messages for so long. Parts have none, but a host may send any number. */
#define DUPLICATES_NS (NS / 10)

/**
 * struct stream - a connection to the servers
 * @nats: the connection
 * @js: its streams
 * @sub: the parts of a partition
 * @failed: publishing sizes has failed; set by a thread of libnats
 */
struct stream {
	natsConnection *nats;
	jsCtx *js;
	natsSubscription *sub;
	volatile bool failed;
};

static bool fail(char *reason, const char *what, natsStatus status)
{
	const char *text = natsStatus_GetText(status), *last = nats_message();

	if (!strcmp(last, text))
		last = "";
	snprintf(reason, LINK_REASON, "%s: %.60s%s%.120s", what, text, *last ? ": " : "", last);
	return false;
}

static natsStatus add(struct stream *stream, jsStreamConfig *config)
{
	natsStatus status = js_UpdateStream(NULL, stream->js, config, NULL, NULL);

	return status == NATS_NOT_FOUND ? js_AddStream(NULL, stream->js, config, NULL, NULL) :
					  status;
}

/*
 * What the configuration allows on each server. Without a limit, a full disk stops the server.
 * Servers that have just started may not answer: streams that are larger than they allow could not
 * be created, or made smaller later.
 */
static natsStatus room(struct stream *stream, const struct stream_options *options, int64_t *most)
{
	jsAccountInfo *info = NULL;
	natsStatus status = js_GetAccountInfo(&info, stream->js, NULL, NULL);

	*most = 10 * HAVE_BYTES;
	if (status == NATS_OK && info->Limits.MaxStore > 0)
		*most = info->Limits.MaxStore / (options->replicas ? options->replicas : 1);
	jsAccountInfo_Destroy(info);
	return status;
}

static natsStatus add_streams(struct stream *stream, const struct stream_options *options)
{
	static const char *parts[] = { "ktau.*.*" }, *have[] = { "have.*.>" };
	jsStreamConfig config;
	natsStatus status;
	int64_t most;

	status = room(stream, options, &most);
	if (status != NATS_OK)
		return status;
	jsStreamConfig_Init(&config);
	config.Name = "KTAU";
	config.Subjects = parts;
	config.SubjectsLen = 1;
	config.Retention = js_WorkQueuePolicy;
	config.Storage = js_FileStorage;
	config.Discard = js_DiscardNew;
	config.DiscardNewPerSubject = true;
	config.MaxMsgsPerSubject = STREAM_PARTS;
	config.MaxMsgSize = 2 * TARGET_PART;
	config.MaxBytes = options->max_bytes ? (int64_t)options->max_bytes : most / 5 * 4;
	config.Replicas = options->replicas;
	config.Duplicates = DUPLICATES_NS;
	status = add(stream, &config);
	if (status != NATS_OK)
		return status;
	jsStreamConfig_Init(&config);
	config.Name = "KTAU_HAVE";
	config.Subjects = have;
	config.SubjectsLen = 1;
	config.Storage = js_FileStorage;
	config.MaxMsgsPerSubject = 1;
	config.MaxBytes = most / 10 < HAVE_BYTES ? most / 10 : HAVE_BYTES;
	config.AllowDirect = true;
	config.MaxAge = 30 * DAY_NS;
	config.Replicas = options->replicas;
	config.Duplicates = DUPLICATES_NS;
	return add(stream, &config);
}

/*
 * A new consumer gets what an earlier one has not acknowledged, oldest first. Only as much as a
 * batch is in flight, so that parts of a file do not overtake each other.
 */
static natsStatus subscribe(struct stream *stream, int partition)
{
	char subject[32], name[32];
	jsSubOptions options;

	snprintf(subject, sizeof(subject), "ktau.%d.*", partition);
	snprintf(name, sizeof(name), "land-%d", partition);
	js_DeleteConsumer(stream->js, "KTAU", name, NULL, NULL);
	jsSubOptions_Init(&options);
	options.Stream = "KTAU";
	options.Config.AckPolicy = js_AckExplicit;
	options.Config.MaxAckPending = 2 * BATCH;
	options.Config.AckWait = 30 * NS;
	return js_PullSubscribe(&stream->sub, stream->js, subject, name, NULL, &options, NULL);
}

static void on_publish_error(jsCtx *js, jsPubAckErr *error, void *arg)
{
	struct stream *stream = arg;

	(void)js;
	(void)error;
	stream->failed = true;
}

static bool stream_open(struct stream *stream, const struct link_target *target,
			const struct stream_options *options, char *reason)
{
	natsOptions *connect = NULL;
	natsStatus status = nats_options(target, &connect);
	jsOptions js;

	if (status == NATS_OK)
		status = natsOptions_SetAllowReconnect(connect, false);
	if (status == NATS_OK)
		status = natsConnection_Connect(&stream->nats, connect);
	natsOptions_Destroy(connect);
	if (status != NATS_OK)
		return fail(reason, "connect", status);
	jsOptions_Init(&js);
	js.PublishAsync.ErrHandler = on_publish_error;
	js.PublishAsync.ErrHandlerClosure = stream;
	status = natsConnection_JetStream(&stream->js, stream->nats, &js);
	if (status == NATS_OK)
		status = add_streams(stream, options);
	if (status != NATS_OK)
		return fail(reason, "streams", status);
	status = subscribe(stream, options->partition);
	return status == NATS_OK || fail(reason, "consumer", status);
}

static void stream_close(struct stream *stream)
{
	natsSubscription_Destroy(stream->sub);
	jsCtx_Destroy(stream->js);
	natsConnection_Destroy(stream->nats);
}

/* The subject is ktau.PARTITION.HOST. */
static void read_part(natsMsg *msg, struct append_part *part)
{
	const char *subject = natsMsg_GetSubject(msg), *dot = strrchr(subject, '.');

	*part = (struct append_part){
		.host = dot ? dot + 1 : "",
		.data = natsMsg_GetData(msg),
		.bytes = natsMsg_GetDataLength(msg),
	};
	natsMsgHeader_Get(msg, "File", &part->file);
	natsMsgHeader_Get(msg, "Offset", &part->offset);
}

/* Publish the size of a file, whose name is then valid, without waiting. */
static bool tell(struct stream *stream, natsMsg *msg, const struct stream_have *have)
{
	char subject[LINK_SUBJECT], text[LINK_ANSWER];
	struct append_part part;
	int length;

	read_part(msg, &part);
	snprintf(subject, sizeof(subject), "have.%s.%s", part.host, part.file);
	length = snprintf(text, sizeof(text), "%" PRIu64 " %s%s", have->bytes,
			  *have->head ? have->head : "-",
			  have->gap ? " gap" : "");
	return js_PublishAsync(stream->js, subject, text, length, NULL) == NATS_OK;
}

/*
 * What is not acknowledged comes again, in order, with the next consumer: after an error it would
 * be wrong to go on with this one, because parts after the failed one would be gaps.
 */
static bool land_batch(struct stream *stream, const struct stream_handler *handler,
		       natsMsgList *list, char *reason)
{
	static struct stream_have have[BATCH];
	jsPubOptions patience;
	struct append_part part;
	natsStatus status;
	int i, nr;

	for (nr = 0; nr < list->Count; nr++) {
		read_part(list->Msgs[nr], &part);
		if (!handler->take(handler->arg, &part, &have[nr]))
			break;
	}
	if (!handler->sync(handler->arg))
		return fail(reason, "the archive", NATS_IO_ERROR);
	stream->failed = false;
	for (i = 0; i < nr; i++)
		if (have[i].set && !tell(stream, list->Msgs[i], &have[i]))
			return fail(reason, "publish", NATS_ERR);
	jsPubOptions_Init(&patience);
	patience.MaxWait = LINK_MS;
	status = js_PublishAsyncComplete(stream->js, &patience);
	if (status != NATS_OK || stream->failed)
		return fail(reason, "publish", status);
	for (i = 0; i < nr; i++)
		natsMsg_Ack(list->Msgs[i], NULL);
	status = natsConnection_FlushTimeout(stream->nats, LINK_MS);
	if (status != NATS_OK)
		return fail(reason, "acknowledge", status);
	return nr == list->Count || fail(reason, "the archive", NATS_IO_ERROR);
}

bool stream_run(const struct link_target *target, const struct stream_options *options,
		const struct stream_handler *handler, char *reason)
{
	struct stream stream = { .nats = NULL };
	bool good = stream_open(&stream, target, options, reason);
	jsFetchRequest request;
	natsStatus status;

	if (good)
		log_info("landing");
	while (good && !*handler->ending) {
		natsMsgList list = { .Msgs = NULL };

		jsFetchRequest_Init(&request);
		request.Batch = BATCH;
		request.MaxBytes = BATCH_BYTES;
		request.Expires = NS / 4;
		status = natsSubscription_FetchRequest(&list, stream.sub, &request);
		if (status == NATS_OK && list.Count)
			good = land_batch(&stream, handler, &list, reason);
		else if (status != NATS_OK && status != NATS_TIMEOUT)
			good = fail(reason, "fetch", status);
		natsMsgList_Destroy(&list);
	}
	stream_close(&stream);
	return good;
}
