/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_UPLOAD_BATCH_H
#define PROTO_UPLOAD_BATCH_H

/*
 * A batch of uploads of one job in one request (README.md in this folder). It begins with a line of JSON that has the
 * paths and sizes of the parts. The bytes of the parts follow one after another. The answer has a status for each part.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct err;

enum {
	UPLOAD_BATCH_PARTS_MAX = 16,
	UPLOAD_BATCH_HEAD_MAX = 16 * 1024,                          /* of the line of JSON */
	UPLOAD_BATCH_BYTES_MAX = 128 * 1024 - UPLOAD_BATCH_HEAD_MAX /* limit of a worker; a scheduler accepts more */
};

struct upload_batch_part {
	const char *path; /* path below the job's own URL: "log?offset=0" */
	const void *bytes;
	size_t len;
};

struct upload_batch {
	struct upload_batch_part parts[UPLOAD_BATCH_PARTS_MAX]; /* the bytes are borrowed from the text */
	size_t count;
	json_t *head; /* owns the paths */
};

/* Appends a batch of at most UPLOAD_BATCH_PARTS_MAX parts. */
void upload_batch_write(const struct upload_batch_part *parts, size_t count, struct buf *out);
/* Parses a batch; the result borrows from the text. ERR_MALFORMED. */
int upload_batch_read(const char *text, size_t len, struct upload_batch *ret_batch, struct err *err);
void upload_batch_release(struct upload_batch *batch);

struct upload_batch_answer {
	int status;
	struct buf body; /* JSON; empty: none. Owned */
};

void upload_batch_answers_write(const struct upload_batch_answer *answers, size_t count, struct buf *out);
/* Returns -1, with nothing to release, unless there are exactly `count` answers. */
int upload_batch_answers_read(const char *text, size_t len, struct upload_batch_answer *ret_answers, size_t count);
void upload_batch_answers_release(struct upload_batch_answer *answers, size_t count);

#endif
