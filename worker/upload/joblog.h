/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_JOBLOG_H
#define WORKER_UPLOAD_JOBLOG_H

/*
 * Sends a job's log to the scheduler. It reads the engine's output, redacts it line by line, and sends it in requests,
 * one at a time. A request is sent when 64 KiB have arrived or after a short pause, which is longer if answers are
 * slow. If the scheduler is slower than the engine, the engine blocks: at most a few MiB are buffered.
 *
 * The worker does not keep bytes that the scheduler has accepted. If the scheduler's copy turns out to be shorter, a
 * line in the log says how many bytes are missing, and the rest follows.
 */

#include "common/loop/loop.h"
#include "worker/upload/channel.h"
#include "worker/upload/redact.h"

/* One line of the engine's output, without its line end. Lines of more than 1 MiB are left out. */
typedef void (*joblog_line_fn)(void *data, const char *line, size_t len);

struct joblog {
	struct loop *loop;
	struct channel *channel;
	const struct redactor *redactor;
	joblog_line_fn on_line;
	void *on_line_data;
	int fd;                          /* the output being read, or -1; owned */
	int copy;                        /* file that the output is also appended to, or -1; borrowed */
	uint64_t copied;                 /* bytes appended */
	void (*copy_failed)(void *data); /* called once, with errno set, if appending fails */
	void *copy_failed_data;
	bool reading;       /* the loop watches `fd` */
	struct buf line;    /* the incomplete last line */
	bool long_line;     /* `line` is the rest of a line whose first pieces are in the log */
	bool within_line;   /* the log ends within a line */
	struct buf pending; /* redacted; the first `flight` bytes are under way */
	size_t flight;
	bool hurry;               /* pending bytes are sent as soon as the answer arrives */
	int64_t sent_ms, took_ms; /* of the last request */
	uint64_t offset;          /* of pending's first byte in the log */
	uint64_t max;             /* limit in bytes */
	bool cut;                 /* the log exceeded the limit: the rest is left out */
	void (*full)(void *data); /* called when `cut` is set; or NULL */
	void *full_data;
	struct loop_timer timer;
	loop_work_fn flushed; /* called when nothing is pending, or NULL */
	void *flushed_data;
};

/* Borrows everything. `on_line` may be NULL. */
void joblog_init(struct joblog *log, struct loop *loop, struct channel *channel, const struct redactor *redactor);
void joblog_release(struct joblog *log);
/* Adds a line of the worker's own. */
void joblog_write(struct joblog *log, const char *text);
/* Starts to read the engine's output. Takes the descriptor, which must be non-blocking. */
void joblog_attach(struct joblog *log, int fd, joblog_line_fn on_line, void *data);
/* Also appends the output from now on to a file, until the output is detached. The file gets at most COPY_MORE bytes
 * more than the log's limit. */
enum { COPY_MORE = 16 * 1024 * 1024 };
void joblog_copy(struct joblog *log, int fd, void (*failed)(void *data), void *data);
/* Reads the rest of the output and closes the descriptor. */
void joblog_detach(struct joblog *log);
/* Sends the pending bytes without waiting for more. */
void joblog_push(struct joblog *log);
/* Calls fn when everything is delivered or the attempt is over, possibly before this function returns. */
void joblog_flush(struct joblog *log, loop_work_fn fn, void *data);

#endif
