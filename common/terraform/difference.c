/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/difference.h"

#include <zstd.h>

#include "common/err.h"

enum {
	LEVEL = 1,       /* higher levels save a few percent for twice the time */
	WINDOW_MAX = 27, /* bits; zstd uses a smaller window if that is enough */
	HASH_MIN = 13,   /* bits */
	HASH_MAX = 23,   /* bits; 32 MiB */
};

struct difference_base {
	struct buf state;
	ZSTD_CCtx *compressor;
};

static void compressor_free(ZSTD_CCtx **compressor)
{
	ZSTD_freeCCtx(*compressor);
}

static void decompressor_free(ZSTD_DCtx **decompressor)
{
	ZSTD_freeDCtx(*decompressor);
}

/* For a base of that size. The level's default table is too small to index a state whose text seldom repeats: the
 * difference of one cloud resource to a base of 3 MB took 413 kB. With this table it takes 568 bytes. zstd 1.5.7
 * indexes the last 8 bytes for each place of the table; with fewer places it would not see the base's beginning. */
static int hash_bits(size_t len)
{
	int bits = HASH_MIN;

	while (bits < HASH_MAX && (size_t)1 << bits < len / 8)
		bits++;
	return bits;
}

/* Appends `size` uninitialized bytes. NULL if the buffer's limit would be exceeded. */
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

/* For a base of that size; 0: for whole states. Those need no larger table: for one of 15 MB, a table by its size took
 * 51 ms instead of 37 and made the frame 5 % larger. */
static ZSTD_CCtx *compressor_new(size_t base_len)
{
	ZSTD_CCtx *compressor = mem_check(ZSTD_createCCtx());

	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_windowLog, WINDOW_MAX);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_hashLog, hash_bits(base_len));
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
	return compressor;
}

struct difference_base *difference_base_new(struct bytes state)
{
	struct difference_base *base = mem_new(1, sizeof(*base));

	base->compressor = compressor_new(state.len);
	base->state = (struct buf)BUF_INIT(SIZE_MAX / 2);
	buf_append(&base->state, state.data, state.len);
	return base;
}

void difference_base_free(struct difference_base *base)
{
	if (!base)
		return;
	ZSTD_freeCCtx(base->compressor);
	buf_release(&base->state);
	free(base);
}

int difference_make(struct difference_base *base, struct bytes state, struct buf *out, struct err *err)
{
	_cleanup_(compressor_free) ZSTD_CCtx *own = base ? NULL : compressor_new(0);
	size_t before = out->len, bound = ZSTD_compressBound(state.len), done;
	char *room = state.len <= DIFFERENCE_STATE_MAX ? room_add(out, bound) : NULL;

	if (!room)
		return too_large(err);
	/* A dictionary would be loaded once for many differences, but zstd searches only 16 MiB of it, and it takes
	 * three times the memory. */
	if (base)
		ZSTD_CCtx_refPrefix(base->compressor, base->state.data, base->state.len);
	done = ZSTD_compress2(base ? base->compressor : own, room, bound, state.data, state.len);
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
	_cleanup_(decompressor_free) ZSTD_DCtx *decompressor = mem_check(ZSTD_createDCtx());
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
