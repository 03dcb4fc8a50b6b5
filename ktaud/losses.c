// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ktau.h>

#include "log.h"
#include "losses.h"

/* Evicted slots are not included, because they are taken from the END records of traces. */
static bool is_loss(const char *name)
{
	return !strncmp(name, "refused_", 8) ||
	       (!strncmp(name, "lost_", 5) && strcmp(name, "lost_evicted"));
}

static int begin(void *arg, const char *name, uint64_t value)
{
	struct losses *losses = arg;
	struct loss *loss = &losses->each[losses->nr];

	if (!is_loss(name) || losses->nr == LOSSES_MAX)
		return 0;
	*loss = (struct loss){ .before = value, .now = value };
	snprintf(loss->name, sizeof(loss->name), "%s", name);
	losses->nr++;
	return 0;
}

void losses_init(struct losses *losses)
{
	losses->nr = 0;
	ktau_stats_each(begin, losses);
}

static int update(void *arg, const char *name, uint64_t value)
{
	struct losses *losses = arg;
	unsigned int i;

	for (i = 0; i < losses->nr; i++)
		if (!strcmp(losses->each[i].name, name))
			losses->each[i].now = value;
	return 0;
}

void losses_reset(struct losses *losses, const char *name)
{
	unsigned int i;

	ktau_stats_each(update, losses);
	for (i = 0; i < losses->nr; i++)
		if (!strcmp(losses->each[i].name, name))
			losses->each[i].before = losses->each[i].now;
}

void losses_warn(struct losses *losses)
{
	unsigned int i;

	if (!losses->nr)
		return;
	ktau_stats_each(update, losses);
	for (i = 0; i < losses->nr; i++) {
		struct loss *loss = &losses->each[i];

		if (loss->reported || loss->now == loss->before)
			continue;
		log_error("data are being lost: %s of /proc/ktau/stats is growing", loss->name);
		loss->reported = true;
	}
}

void losses_report(struct losses *losses)
{
	unsigned int i;

	losses_warn(losses);
	for (i = 0; i < losses->nr; i++) {
		const struct loss *loss = &losses->each[i];

		if (loss->reported)
			log_info("data were lost: %s has grown by %" PRIu64, loss->name,
				 loss->now - loss->before);
	}
}
