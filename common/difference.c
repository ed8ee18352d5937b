/* SPDX-License-Identifier: MPL-2.0 */
#include "common/difference.h"

#include <zstd.h>

#include "common/err.h"

enum {
	LEVEL = 1,       /* higher levels save a few percent for twice the time */
	WINDOW_MIN = 17, /* bits */
	HASH_MAX = 22,   /* bits; 16 MiB */
};

static void compressor_free(ZSTD_CCtx **compressor)
{
	ZSTD_freeCCtx(*compressor);
}

static void decompressor_free(ZSTD_DCtx **decompressor)
{
	ZSTD_freeDCtx(*decompressor);
}

/* Bits of a window that holds both. */
static int window_bits(size_t len)
{
	int bits = WINDOW_MIN;

	while ((size_t)1 << bits < len)
		bits++;
	return bits;
}

/* Appends `size` bytes that are not set. NULL if the buffer's limit would be passed. */
static char *room_add(struct buf *out, size_t size)
{
	size_t before = out->len;

	if (buf_grow(out, size) < 0)
		return NULL;
	return out->data + before;
}

static int too_large(struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "a state of more than %d bytes has no difference", DIFFERENCE_STATE_MAX);
}

int difference_make(struct bytes base, struct bytes state, struct buf *out, struct err *err)
{
	_cleanup_(compressor_free) ZSTD_CCtx *compressor = mem_there(ZSTD_createCCtx());
	size_t before = out->len, bound = ZSTD_compressBound(state.len), done;
	int bits = window_bits(base.len + state.len);
	char *room;

	if (base.len > DIFFERENCE_STATE_MAX || state.len > DIFFERENCE_STATE_MAX)
		return too_large(err);
	room = room_add(out, bound);
	if (!room)
		return too_large(err);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_windowLog, bits);
	/* The level's own table is too small to find the places of a base whose text seldom repeats. With it, the
	 * difference of one cloud resource to a base of 3 MB took 413 kB; with this one it takes 568 bytes. */
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_hashLog, bits - 5 < HASH_MAX ? bits - 5 : HASH_MAX);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_refPrefix(compressor, base.data, base.len);
	done = ZSTD_compress2(compressor, room, bound, state.data, state.len);
	buf_cut(out, before + (ZSTD_isError(done) ? 0 : done));
	return ZSTD_isError(done) ? err_set(err, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(done)) : 0;
}

long long difference_size(struct bytes frame)
{
	unsigned long long size = frame.len ? ZSTD_getFrameContentSize(frame.data, frame.len) : ZSTD_CONTENTSIZE_ERROR;

	return size <= DIFFERENCE_STATE_MAX ? (long long)size : -1;
}

int difference_apply(struct bytes base, struct bytes frame, struct buf *out, struct err *err)
{
	_cleanup_(decompressor_free) ZSTD_DCtx *decompressor = mem_there(ZSTD_createDCtx());
	long long size = difference_size(frame);
	size_t before = out->len, done;
	char *room;

	if (size < 0)
		return err_set(err, ERR_INVALID, "this is no difference of states");
	room = room_add(out, (size_t)size);
	if (!room)
		return too_large(err);
	ZSTD_DCtx_refPrefix(decompressor, base.data, base.len);
	done = ZSTD_decompressDCtx(decompressor, room, (size_t)size, frame.data, frame.len);
	if (!ZSTD_isError(done) && done == (size_t)size)
		return 0;
	buf_cut(out, before);
	return err_set(err, ERR_INVALID, "the difference of states is damaged, or its base is another (zstd: %s)",
		ZSTD_isError(done) ? ZSTD_getErrorName(done) : "size");
}
