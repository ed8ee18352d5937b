/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

/* A growing run of bytes with a bound. `data` is always terminated by a zero byte that `len` does not count. */

#include "common/base.h"

struct buf {
	char *data; /* "" until something was added; owned */
	size_t len;
	size_t cap;
	size_t limit; /* the most bytes it may hold */
};

#define BUF_INIT(most)                                                                                                 \
	{                                                                                                              \
		.data = NULL, .len = 0, .cap = 0, .limit = (most)                                                      \
	}

/* Each returns -1, with the buffer as it was, if the limit would be passed. */
int buf_append(struct buf *buf, const void *bytes, size_t len);
int buf_text(struct buf *buf, const char *text);
/* The text as it may stand in a URL's query: what is not unreserved becomes %XX. */
int buf_url(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds bytes that are not set, for the caller to fill. */
int buf_grow(struct buf *buf, size_t len);

/* Drops the first `len` bytes. */
void buf_consume(struct buf *buf, size_t len);
/* Drops what follows the first `len` bytes. */
void buf_cut(struct buf *buf, size_t len);
/* Empties it and keeps its memory. */
void buf_reset(struct buf *buf);
/* The text so far, never NULL. Borrowed. */
const char *buf_str(const struct buf *buf);
/* Hands the bytes to the caller (never NULL, to be freed) and leaves the buffer empty. */
char *buf_take(struct buf *buf);
void buf_release(struct buf *buf);

/* Reads a whole file into an empty buffer. -1 with ERR_NOT_FOUND, ERR_TOO_LARGE or ERR_INTERNAL. */
struct err;
int buf_read_file(struct buf *buf, const char *path, struct err *err);

#endif
