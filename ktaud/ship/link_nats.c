// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "link.h"
#include "nats_options.h"

struct link {
	natsConnection *nats;
};

/* An error of the server, such as a refused subject, explains a timeout. */
static void explain(natsConnection *nats, natsStatus status, char *reason)
{
	const char *text = natsStatus_GetText(status), *last = NULL;

	if (nats)
		natsConnection_GetLastError(nats, &last);
	if ((!last || !*last) && status != NATS_TIMEOUT)
		last = nats_message();
	if (!last || !strcmp(last, text))
		last = "";
	snprintf(reason, LINK_REASON, "%s%s%.200s", text, *last ? ": " : "", last);
}

struct link *link_open(const struct link_target *target, char *reason)
{
	struct link *link = calloc(1, sizeof(*link));
	natsOptions *options = NULL;
	char inbox[TARGET_HOST + 8];
	natsStatus status;

	if (!link) {
		snprintf(reason, LINK_REASON, "out of memory");
		return NULL;
	}
	snprintf(inbox, sizeof(inbox), "_I.%s", target->host);
	status = nats_options(target, &options);
	if (status == NATS_OK)
		status = natsOptions_SetCustomInboxPrefix(options, inbox);
	/* The caller connects again, after a delay that grows. */
	if (status == NATS_OK)
		status = natsOptions_SetAllowReconnect(options, false);
	if (status == NATS_OK)
		status = natsConnection_Connect(&link->nats, options);
	natsOptions_Destroy(options);
	if (status == NATS_OK)
		return link;
	explain(NULL, status, reason);
	free(link);
	return NULL;
}

static natsStatus make(natsMsg **msg, const struct link_message *message)
{
	natsStatus status = natsMsg_Create(msg, message->subject, NULL, message->data,
					   (int)message->bytes);

	if (status == NATS_OK && message->file)
		status = natsMsgHeader_Set(*msg, "File", message->file);
	if (status == NATS_OK && message->file)
		status = natsMsgHeader_Set(*msg, "Offset", message->offset);
	return status;
}

bool link_ask(struct link *link, const struct link_message *message, struct link_answer *answer,
	      char *reason)
{
	natsMsg *msg = NULL, *reply = NULL;
	const char *text = NULL;
	natsStatus status;
	size_t bytes;

	*answer = (struct link_answer){ .status = 0 };
	status = make(&msg, message);
	if (status == NATS_OK)
		status = natsConnection_RequestMsg(&reply, link->nats, msg, LINK_MS);
	natsMsg_Destroy(msg);
	if (status != NATS_OK) {
		explain(link->nats, status, reason);
		return false;
	}
	if (natsMsgHeader_Get(reply, "Status", &text) == NATS_OK)
		answer->status = atoi(text);
	bytes = natsMsg_GetDataLength(reply);
	if (bytes >= sizeof(answer->text))
		bytes = sizeof(answer->text) - 1;
	memcpy(answer->text, natsMsg_GetData(reply), bytes);
	natsMsg_Destroy(reply);
	return true;
}

bool link_alive(struct link *link)
{
	return !natsConnection_IsClosed(link->nats);
}

void link_close(struct link *link)
{
	if (link)
		natsConnection_Destroy(link->nats);
	free(link);
}
