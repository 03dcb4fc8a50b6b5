/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of libnats that ktaud-ship and ktau-land share. */
#ifndef KTAUD_SHIP_NATS_OPTIONS_H
#define KTAUD_SHIP_NATS_OPTIONS_H

#include <nats/nats.h>

#include "target.h"

/* Create *@options for natsOptions_Destroy(). After an error it may be NULL. */
natsStatus nats_options(const struct link_target *target, natsOptions **options);

/* The last error of this thread in libnats, without its place in the source; "" for none. */
const char *nats_message(void);

#endif /* KTAUD_SHIP_NATS_OPTIONS_H */
