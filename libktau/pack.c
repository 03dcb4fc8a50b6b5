// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compression of blocks: zlib always, zstd where it is built in. */
#include <zlib.h>

#include "pack.h"

#ifdef KTAU_HAVE_ZSTD
#include <zstd.h>

static int pack_zstd(struct ktau__packer *packer, const uint8_t *data, size_t size)
{
	struct ktau__buffer *out = &packer->out;
	size_t bound = ZSTD_compressBound(size);
	int err = ktau__buffer_reserve(out, bound);

	if (err)
		return err;
	if (!packer->zstd)
		packer->zstd = ZSTD_createCCtx();
	if (!packer->zstd)
		return -ENOMEM;
	bound = ZSTD_compressCCtx(packer->zstd, out->data, bound, data, size, 1);
	if (ZSTD_isError(bound))
		return -ENOMEM;
	out->size = bound;
	return 0;
}

static void free_zstd(struct ktau__packer *packer)
{
	ZSTD_freeCCtx(packer->zstd);
}

static int unpack_zstd(const uint8_t *data, size_t size, struct ktau__buffer *out)
{
	size_t got = ZSTD_decompress(out->data, out->size, data, size);

	return ZSTD_isError(got) || got != out->size ? -EBADMSG : 0;
}
#else
static int pack_zstd(struct ktau__packer *packer, const uint8_t *data, size_t size)
{
	(void)packer, (void)data, (void)size;
	return -EOPNOTSUPP;
}

static void free_zstd(struct ktau__packer *packer)
{
	(void)packer;
}

static int unpack_zstd(const uint8_t *data, size_t size, struct ktau__buffer *out)
{
	(void)data, (void)size, (void)out;
	return -EOPNOTSUPP;
}
#endif

bool ktau_has_compression(uint8_t compression)
{
#ifdef KTAU_HAVE_ZSTD
	if (compression == KTAU_COMPRESS_ZSTD)
		return true;
#endif
	return compression == KTAU_COMPRESS_NONE || compression == KTAU_COMPRESS_ZLIB;
}

/* The fastest level: zlib's default takes twice as long and saves an eighth. */
static int pack_zlib(const uint8_t *data, size_t size, struct ktau__buffer *out)
{
	uLongf bytes = compressBound(size);
	int err = ktau__buffer_reserve(out, bytes);

	if (err)
		return err;
	if (compress2(out->data, &bytes, data, size, Z_BEST_SPEED) != Z_OK)
		return -ENOMEM;
	out->size = bytes;
	return 0;
}

static int unpack_zlib(const uint8_t *data, size_t size, struct ktau__buffer *out)
{
	z_stream z = {
		.next_in = (Bytef *)data,
		.avail_in = size,
		.next_out = out->data,
		.avail_out = out->size,
	};
	int err;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	err = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return err == Z_STREAM_END && !z.avail_in && !z.avail_out ? 0 : -EBADMSG;
}

int ktau__pack(struct ktau__packer *packer, uint8_t method, const uint8_t *data, size_t size)
{
	packer->out.size = 0;
	if (method == KTAU_COMPRESS_ZLIB)
		return pack_zlib(data, size, &packer->out);
	return method == KTAU_COMPRESS_ZSTD ? pack_zstd(packer, data, size) : -EOPNOTSUPP;
}

void ktau__packer_free(struct ktau__packer *packer)
{
	free_zstd(packer);
	packer->zstd = NULL;
	ktau__buffer_free(&packer->out);
}

int ktau__unpack(uint8_t method, const uint8_t *data, size_t size, size_t raw,
		 struct ktau__buffer *out)
{
	int err = ktau__buffer_reserve(out, raw);

	if (err)
		return err;
	out->size = raw;
	if (method == KTAU_COMPRESS_ZLIB)
		return unpack_zlib(data, size, out);
	return method == KTAU_COMPRESS_ZSTD ? unpack_zstd(data, size, out) : -EOPNOTSUPP;
}
