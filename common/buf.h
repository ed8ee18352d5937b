/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

/* A growing byte buffer with a limit. `data` is always terminated by a zero byte that `len` does not count. */

#include "common/base.h"

/* Borrowed bytes. */
struct bytes {
	const void *data; /* may be NULL if len is 0 */
	size_t len;
};

struct buf {
	char *data; /* "" while it is empty; owned */
	size_t len;
	size_t cap;
	size_t limit; /* the most bytes it may hold */
};

#define BUF_INIT(max)                                                                                                  \
	{                                                                                                              \
		.data = NULL, .len = 0, .cap = 0, .limit = (max)                                                       \
	}

/* Each returns -1 and leaves the buffer unchanged if the limit would be exceeded. */
int buf_append(struct buf *buf, const void *bytes, size_t len);
int buf_text(struct buf *buf, const char *text);
/* Appends the text percent-encoded for the query of a URL: all but unreserved characters become %XX. */
int buf_url(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends uninitialized bytes for the caller to fill. */
int buf_grow(struct buf *buf, size_t len);

/* Drops the first `len` bytes. */
void buf_consume(struct buf *buf, size_t len);
/* Drops all but the first `len` bytes. */
void buf_cut(struct buf *buf, size_t len);
/* Empties it and keeps its memory. */
void buf_reset(struct buf *buf);
/* The contents, never NULL. Borrowed. */
const char *buf_str(const struct buf *buf);
struct bytes buf_bytes(const struct buf *buf);
struct bytes text_bytes(const char *text);
/* Transfers the bytes to the caller (never NULL, to be freed) and leaves the buffer empty. */
char *buf_take(struct buf *buf);
void buf_release(struct buf *buf);

/* Appends the rest of a file. -1 with errno; EFBIG: it is over the limit. */
int buf_read(struct buf *buf, int fd);
/* Reads a whole file into an empty buffer. -1 with ERR_NOT_FOUND, ERR_TOO_LARGE or ERR_INTERNAL. */
struct err;
int buf_read_file(struct buf *buf, const char *path, struct err *err);
/* Writes all the bytes. -1 with errno. */
int write_fully(int fd, const void *bytes, size_t len);

#endif
