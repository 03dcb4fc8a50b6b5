// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Figures that are not in the mapped pages, from a stream of this thread's profile. It is read
 * without the decoder of libktau, because this library, which is part of the measured programs,
 * depends on nothing but the C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "figures.h"

struct stream {
	int fd;
	size_t at, have;
	struct ktau_rec rec;	/* the current record */
	size_t left;		/* bytes of it that have not been taken */
	char bytes[4096];
};

static int stream_open(struct stream *s)
{
	const struct ktau_select select = { .size = sizeof(select),
					    .target = KTAU_TARGET_SELF };

	s->at = s->have = s->left = 0;
	s->fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	if (!ioctl(s->fd, KTAU_IOC_SELECT, &select))
		return 0;
	s->fd = (close(s->fd), -errno);
	return s->fd;
}

/* Take @n bytes, which are not kept if @to is NULL. Returns 0 or -errno. */
static int take(struct stream *s, void *to, size_t n)
{
	ssize_t got;
	size_t part;

	for (; n; n -= part) {
		if (s->at == s->have) {
			got = read(s->fd, s->bytes, sizeof(s->bytes));
			if (got <= 0)
				return got ? -errno : -ENODATA;
			s->at = 0;
			s->have = got;
		}
		part = n < s->have - s->at ? n : s->have - s->at;
		if (to) {
			memcpy(to, s->bytes + s->at, part);
			to = (char *)to + part;
		}
		s->at += part;
	}
	return 0;
}

/* The same within the current record; bytes after its end are taken as zero. */
static int take_part(struct stream *s, void *to, size_t n)
{
	const size_t part = n < s->left ? n : s->left;
	int err = take(s, to, part);

	s->left -= part;
	if (to)
		memset((char *)to + part, 0, n - part);
	return err;
}

/* Go to the next record. Returns 1, 0 after the last one, or -errno. */
static int next_record(struct stream *s)
{
	int err = take_part(s, NULL, s->left);

	if (err || s->rec.type == KTAU_REC_END)
		return err;
	err = take(s, &s->rec, sizeof(s->rec));
	if (err)
		return err;
	if (s->rec.head < sizeof(s->rec) || s->rec.size < s->rec.head)
		return -EPROTO;
	s->left = s->rec.size - sizeof(s->rec);
	return 1;
}

/* Take the fixed part of a record, whose header has been taken; this library knows @bytes of it. */
static int take_fixed(struct stream *s, void *rec, size_t bytes)
{
	const size_t fixed = s->rec.head - sizeof(s->rec);
	const size_t known = bytes - sizeof(s->rec), rest = s->left - fixed;
	int err;

	s->left = fixed;
	err = take_part(s, (char *)rec + sizeof(s->rec), known);
	if (!err)
		err = take_part(s, NULL, s->left);
	s->left = rest;
	return err;
}

/* Add the entry of @event, if there is one. */
static int add_entries(struct stream *s, uint32_t event, uint32_t nr, uint32_t entry_size,
		       struct ktau__figures *figures)
{
	const size_t known = sizeof(struct ktau_entry);
	struct ktau_entry entry;
	int err = 0;

	for (; nr && !err; nr--) {
		const size_t before = s->left;

		if (entry_size > before)
			return -EPROTO;
		memset(&entry, 0, known);
		err = take_part(s, &entry, entry_size < known ? entry_size : known);
		if (!err)
			err = take_part(s, NULL, s->left + entry_size - before);
		if (err || entry.id != event)
			continue;
		figures->count += entry.count;
		figures->incl += entry.incl;
		figures->excl += entry.excl;
	}
	return err;
}

static int read_profile(struct stream *s, uint32_t event, struct ktau__figures *figures)
{
	struct ktau_rec_profile profile;
	int err = take_fixed(s, &profile, sizeof(profile));

	if (err)
		return err;
	figures->refused += profile.refused;
	return add_entries(s, event, profile.nr_entries, profile.entry_size, figures);
}

static int read_region(struct stream *s, uint32_t event, uint32_t region,
		       struct ktau__figures *figures)
{
	struct ktau_rec_region part;
	int err = take_fixed(s, &part, sizeof(part));

	if (err || part.region != region)
		return err;
	figures->refused += part.refused;
	return add_entries(s, event, part.nr_entries, part.entry_size, figures);
}

int ktau__stream_read(uint32_t event, uint32_t region, struct ktau__figures *figures)
{
	const uint16_t type = region == KTAU__ALL_REGIONS ? KTAU_REC_PROFILE : KTAU_REC_REGION;
	struct stream s = { 0 };
	bool has_profile = false;
	int err = stream_open(&s);

	if (err)
		return err;
	memset(figures, 0, sizeof(*figures));
	while ((err = next_record(&s)) > 0) {
		has_profile |= s.rec.type == KTAU_REC_PROFILE;
		if (s.rec.type != type)
			continue;
		err = type == KTAU_REC_PROFILE ? read_profile(&s, event, figures) :
						 read_region(&s, event, region, figures);
		if (err)
			break;
	}
	close(s.fd);
	return err ? err : has_profile ? 0 : -ENODATA;
}

int ktau__stream_hz(uint64_t *hz)
{
	struct ktau_rec_stream stream = { 0 };
	struct stream s = { 0 };
	int err = stream_open(&s);

	if (err)
		return err;
	err = next_record(&s);
	if (err >= 0)
		err = s.rec.type == KTAU_REC_STREAM ? take_fixed(&s, &stream, sizeof(stream)) :
						      -EPROTO;
	if (!err)
		*hz = stream.clock_hz;
	close(s.fd);
	return err;
}
