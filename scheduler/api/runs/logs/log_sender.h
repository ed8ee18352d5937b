/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_LOGS_LOG_SENDER_H
#define SCHEDULER_API_RUNS_LOGS_LOG_SENDER_H

/*
 * Sends long logs and archives to clients in pieces (common/http/stream/http_stream.h). Its threads read the next piece
 * when the client has been sent the last one. So a slow client occupies a bounded buffer and no thread.
 */

#include "common/http/httpd.h"

struct err;
struct log_sender;
struct blob_range;
struct buf;
struct objects;
struct store;
struct thread_stores;

/* MAX_LOGS_SENT: at a time, of all clients. MAX_LOGS_PER_USER: by the key `user`. LOG_PIECE: shorter logs need no
 * stream. */
enum { MAX_LOGS_SENT = 64, MAX_LOGS_PER_USER = 8, LOG_PIECE = 256 << 10 };

struct log_order {
	const char *user;       /* id of the user or the organization whose places it takes */
	const char *content_id; /* of what is read: a plan or an apply, or a blob */
	/* Appends a range of the content. */
	int (*read)(struct store *store, const struct blob_range *range, struct buf *out, struct err *err);
	long long from, to; /* [from, to) */
	bool json;          /* as JSON lines (api/runs/logs/log_lines.h); else as it is */
};

int log_sender_start(
	struct thread_stores *stores, struct objects *objects, struct log_sender **ret_sender, struct err *err);
/* Makes the stream for an answer. ERR_UNAVAILABLE if too much is being sent. */
int log_send(
	struct log_sender *sender, const struct log_order *order, struct http_stream **ret_stream, struct err *err);
/* Breaks off what is being sent, and takes no more. NULL-safe. */
void log_sender_stop(struct log_sender *sender);
/* Call it after log_sender_stop, when no more requests can arrive. NULL-safe. */
void log_sender_free(struct log_sender *sender);

#endif
