// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktau.h>
#include <ktau_bpf.h>

#include "log.h"
#include "origin.h"

/* Slots of each CPU's ring, unless the configuration says something else: 1 MiB. */
#define BPF_RING_SLOTS 16384

static int no_kernel(void)
{
	int err = errno;

	if (err == ENOENT || err == ENOTDIR)
		log_error("this kernel has no KTAU: there is no /proc/ktau/profile "
			  "(boot a kernel with CONFIG_KTAU%s)",
			  ktau_bpf_available() ? ", or measure with BPF programs: source bpf" : "");
	else if (err == EACCES || err == EPERM)
		log_error("cannot read /proc/ktau/profile: requires root or CAP_PERFMON");
	else
		log_error("cannot read /proc/ktau/profile: %s", strerror(err));
	return -err;
}

int origin_choose(const struct options *options, const struct config *config, enum origin *origin)
{
	*origin = ORIGIN_KERNEL;
	if (options->root) {
		*origin = ORIGIN_SAVED;
		return 0;
	}
	if (config->source != CONFIG_BPF && !access("/proc/ktau/profile", R_OK))
		return 0;
	if (config->source == CONFIG_KERNEL ||
	    (config->source == CONFIG_AUTO && (errno != ENOENT || !ktau_bpf_available())))
		return no_kernel();
	*origin = ORIGIN_BPF;
	log_info("measuring with BPF programs%s; ktau status lists what they cannot see",
		 config->source == CONFIG_AUTO ? ", because this kernel has no KTAU" : "");
	return 0;
}

static uint32_t group_bit(const char *name)
{
	uint32_t bit;

	for (bit = 1; bit < KTAU_MODE_PROFILE; bit <<= 1)
		if (ktau_group_name(bit) && !strcmp(ktau_group_name(bit), name))
			return bit;
	return 0;
}

static int parse_groups(const char *list, uint32_t *groups)
{
	char *copy = strdup(list), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;
	uint32_t bit;

	while (!err && (name = strsep(&rest, ","))) {
		bit = group_bit(name);
		if (!bit) {
			log_error("groups: '%s' is not a group", name);
			err = -EINVAL;
		}
		*groups |= bit;
	}
	free(copy);
	return err;
}

int origin_check_bpf(const struct config *config, struct ktau_bpf_options *options)
{
	const char *key = config->watermark ? "watermark" : config->tag ? "tag" : NULL;

	*options = (struct ktau_bpf_options){ 0 };
	if (key) {
		log_error("%s: requires a kernel with KTAU, not the BPF source", key);
		return -EINVAL;
	}
	if (config->info & CONFIG_TRACE)
		options->ring_slots = config->ring ? config->ring : BPF_RING_SLOTS;
	if (!config->groups || !strcmp(config->groups, "all"))
		return 0;
	return parse_groups(config->groups, &options->groups);
}
