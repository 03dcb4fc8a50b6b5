// SPDX-License-Identifier: GPL-2.0-only
/* The consumers that the build has found. */
#include <string.h>

#include "consumer.h"

#define CONSUMER(name) extern const struct consumer consumer_##name;
#include <ktau-consumers.h>
#undef CONSUMER

static const struct consumer *const consumers[] = {
#define CONSUMER(name) &consumer_##name,
#include <ktau-consumers.h>
#undef CONSUMER
};

const struct consumer *consumer_at(unsigned int i)
{
	return i < sizeof(consumers) / sizeof(*consumers) ? consumers[i] : NULL;
}

const struct consumer *consumer_find(const char *name)
{
	const struct consumer *c;
	unsigned int i;

	for (i = 0; (c = consumer_at(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
