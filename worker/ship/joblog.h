/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_JOBLOG_H
#define WORKER_SHIP_JOBLOG_H

/*
 * A job's log on its way to the scheduler: read from the engine's output, redacted line by line, sent when 64 KiB have
 * come or a moment has passed, one request at a time; the moment is longer where answers are slow. If the scheduler is
 * slower than the engine, the engine waits: no more than a few MiB are held.
 *
 * The worker does not keep bytes that the scheduler has taken. If the scheduler's copy turns out to be shorter, a line
 * in the log says how many bytes are missing, and the rest follows.
 */

#include "common/loop.h"
#include "worker/ship/channel.h"
#include "worker/ship/redact.h"

/* One line as the engine wrote it, without its end. Lines of more than 1 MiB are left out. */
typedef void (*joblog_line_fn)(void *data, const char *line, size_t len);

struct joblog {
	struct loop *loop;
	struct channel *channel;
	const struct redactor *redactor;
	joblog_line_fn on_line;
	void *on_line_data;
	int fd;                          /* what is being read, or -1; owned */
	int copy;                        /* file that what is read is appended to, or -1; borrowed */
	uint64_t copied;                 /* bytes of it */
	void (*copy_failed)(void *data); /* called once, with errno, if that fails */
	void *copy_failed_data;
	bool reading;       /* it is watched */
	struct buf line;    /* not ended yet */
	bool long_line;     /* `line` is the rest of one whose first pieces are in the log */
	bool within_line;   /* the log ends within a line */
	struct buf pending; /* redacted; the first `flight` bytes are under way */
	size_t flight;
	bool hurry;               /* what is pending waits for the answer only */
	int64_t sent_ms, took_ms; /* of the last request */
	uint64_t offset;          /* of pending's first byte in the log */
	uint64_t most;            /* bytes */
	bool cut;                 /* it passed that: what follows is left out */
	void (*full)(void *data); /* called then; or NULL */
	void *full_data;
	struct loop_timer timer;
	loop_work_fn flushed; /* to be called when nothing is pending, or NULL */
	void *flushed_data;
};

/* Borrows everything. `on_line` may be NULL. */
void joblog_init(struct joblog *log, struct loop *loop, struct channel *channel, const struct redactor *redactor);
void joblog_release(struct joblog *log);
/* Adds text of ours. */
void joblog_write(struct joblog *log, const char *text);
/* Reads the engine's output from now on; takes the descriptor, which must not block. */
void joblog_attach(struct joblog *log, int fd, joblog_line_fn on_line, void *data);
/* Appends what is read from now on to a file too, until the output is detached: at most COPY_MORE bytes more than the
 * log may have. */
enum { COPY_MORE = 16 * 1024 * 1024 };
void joblog_copy(struct joblog *log, int fd, void (*failed)(void *data), void *data);
/* Reads what is left, and closes it. */
void joblog_detach(struct joblog *log);
/* Sends what there is without waiting for more. */
void joblog_push(struct joblog *log);
/* Calls fn once everything is delivered, or the attempt is over; perhaps before this returns. */
void joblog_flush(struct joblog *log, loop_work_fn fn, void *data);

#endif
