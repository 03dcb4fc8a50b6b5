// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "nats_options.h"

#define IO_BYTES (16 << 10)

static natsStatus add_tls(const struct link_target *target, natsOptions *options)
{
	natsStatus status = natsOptions_SetSecure(options, true);

	if (status == NATS_OK && target->ca)
		status = natsOptions_LoadCATrustedCertificates(options, target->ca);
	if (status == NATS_OK && target->cert)
		status = natsOptions_LoadCertificatesChain(options, target->cert, target->key);
	return status;
}

natsStatus nats_options(const struct link_target *target, natsOptions **options)
{
	natsStatus status = natsOptions_Create(options);

	/* natsOptions_SetURL() takes no list. */
	if (status == NATS_OK)
		status = natsOptions_SetServers(*options, (const char **)target->servers,
						target->nr);
	if (status == NATS_OK)
		status = natsOptions_SetTimeout(*options, 6 * LINK_MS);
	if (status == NATS_OK)
		status = natsOptions_SetIOBufSize(*options, IO_BYTES);
	if (status == NATS_OK)
		status = natsOptions_SetSendAsap(*options, true);
	if (status == NATS_OK && target->tls)
		status = add_tls(target, *options);
	return status;
}

const char *nats_message(void)
{
	const char *text = nats_GetLastError(NULL), *place = text ? strstr(text, "): ") : NULL;

	if (place && *text == '(')
		return place + strlen("): ");
	return text ? text : "";
}
