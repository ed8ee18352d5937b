/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/joblog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json/json.h"
#include "common/log.h"
#include "worker/exec/beneath.h"
#include "worker/metrics.h"

enum {
	PAUSE_MS = 80, /* between an answer and the next request, or as long as the last answer took, up to
			  MAX_PAUSE_MS */
	MAX_PAUSE_MS = 250,
	MAX_READ = 64 * 1024,
	SEND_AT = 64 * 1024,
	MAX_SEND = 1024 * 1024,
	MAX_LINE = 1024 * 1024,
	MAX_HOLD = 4 * 1024 * 1024,     /* more than this stops the reading */
	MAX_PENDING = 16 * 1024 * 1024, /* upper bound of `pending`, even after one more read */
	MAX_LOG = 128 * 1024 * 1024,
	MAX_GAP_LINE = 128,
};

static void output_ready(void *data, int fd, unsigned events);

void joblog_init(struct joblog *log, struct loop *loop, struct channel *channel, const struct redactor *redactor)
{
	*log = (struct joblog){
		.loop = loop, .channel = channel, .redactor = redactor, .fd = -1, .copy = -1, .max = MAX_LOG};
	log->line = (struct buf)BUF_INIT(MAX_LINE);
	log->pending = (struct buf)BUF_INIT(MAX_PENDING);
}

void joblog_release(struct joblog *log)
{
	if (log->fd >= 0) {
		loop_unwatch(log->loop, log->fd);
		close(log->fd);
	}
	if (log->loop)
		loop_timer_clear(log->loop, &log->timer);
	buf_release(&log->line);
	buf_release(&log->pending);
	*log = (struct joblog){.fd = -1, .copy = -1};
}

/* ---- sending ---- */

static void check_flushed(struct joblog *log)
{
	loop_work_fn fn = log->flushed;

	if (!fn || (log->pending.len > 0 && !log->channel->over))
		return;
	log->flushed = NULL;
	fn(log->flushed_data);
}

static void reading_set(struct joblog *log)
{
	bool wanted = log->fd >= 0 && (log->pending.len < MAX_HOLD || log->channel->over);

	if (wanted == log->reading)
		return;
	log->reading = wanted;
	if (wanted)
		loop_watch(log->loop, log->fd, EPOLLIN, output_ready, log);
	else if (log->fd >= 0)
		loop_unwatch(log->loop, log->fd);
}

static void log_accepted(struct joblog *log, size_t len)
{
	buf_consume(&log->pending, len);
	log->offset += len;
	metric_add(M_LOG_BYTES, "", (double)len);
}

/* Puts a line with the number of missing bytes before the pending bytes, and continues at the end of the scheduler's
 * copy. */
static void log_skip(struct joblog *log, uint64_t length, uint64_t missing)
{
	struct buf rest = log->pending;
	char count[24];

	snprintf(count, sizeof(count), "%llu", (unsigned long long)missing);
	log_warn("the scheduler's copy of a log is shorter than what it has taken: the rest follows", "url",
		log->channel->base, "missing-bytes", count, NULL);
	log->pending = (struct buf)BUF_INIT(rest.limit + MAX_GAP_LINE);
	buf_printf(&log->pending,
		"\n%s bytes of the log are missing here: the scheduler does not have them any more.\n", count);
	buf_append(&log->pending, rest.data, rest.len);
	buf_release(&rest);
	log->offset = length;
}

/* A 409 contains the length that the scheduler has. It is longer if an earlier request arrived but its answer did
 * not. It is shorter if a part was refused, or if the scheduler's database has lost commits. */
static void log_conflict(struct joblog *log, const struct buf *body)
{
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;
	long long length, ahead;

	json_parse(buf_str(body), body->len, &value, &err);
	length = json_int_at(value, "length", -1);
	ahead = length - (long long)log->offset;
	if (ahead > 0 && ahead <= (long long)log->pending.len) {
		log_accepted(log, (size_t)ahead);
	} else if (length >= 0 && ahead < 0) {
		log_skip(log, (uint64_t)length, (uint64_t)-ahead);
	} else {
		log_error("the scheduler's copy of a log does not fit what was sent: the rest is dropped", "url",
			log->channel->base, NULL);
		log->cut = true;
		buf_reset(&log->pending);
	}
}

static void send_soon(struct joblog *log);

static void log_answered(void *data, int status, const struct buf *body)
{
	struct joblog *log = data;
	size_t sent = log->flight;
	char why[200];

	log->flight = 0;
	if (status >= 200 && status < 300) {
		log_accepted(log, sent);
	} else if (status == 409) {
		log_conflict(log, body);
	} else {
		answer_sentence(status, body, why, sizeof(why));
		log_warn("a part of a log was refused", "url", log->channel->base, "why", why, NULL);
		log_accepted(log, sent);
	}
	log->took_ms = clock_mono_ms() - log->sent_ms;
	reading_set(log);
	send_soon(log);
	check_flushed(log);
}

void joblog_push(struct joblog *log)
{
	char path[64];
	struct transfer_spec spec = {.method = "PUT",
		.what = "log",
		.content_type = "text/plain",
		.path = path,
		.expects_refusal = true,
		.batched = IN_BATCH};

	loop_timer_clear(log->loop, &log->timer);
	log->hurry = log->pending.len > log->flight;
	if (log->flight > 0 || log->pending.len == 0 || log->channel->over)
		return;
	log->flight = log->pending.len < MAX_SEND ? log->pending.len : MAX_SEND;
	snprintf(path, sizeof(path), "log?offset=%llu", (unsigned long long)log->offset);
	log->hurry = log->pending.len > log->flight;
	log->sent_ms = clock_mono_ms();
	spec.body = log->pending.data;
	spec.body_len = log->flight;
	channel_send(log->channel, &spec, log_answered, log);
}

static void pause_over(void *data)
{
	joblog_push(data);
}

/* The slower the scheduler answers, the longer the pause and the larger the requests. */
static int64_t pause_ms(const struct joblog *log)
{
	int64_t pause = log->took_ms > PAUSE_MS ? log->took_ms : PAUSE_MS;

	return pause < MAX_PAUSE_MS ? pause : MAX_PAUSE_MS;
}

/* Does nothing while a request is under way, because its answer sends the next one. */
static void send_soon(struct joblog *log)
{
	if (log->flight > 0 || log->pending.len == 0)
		return;
	if (log->hurry || log->pending.len >= SEND_AT)
		joblog_push(log);
	else if (log->timer.due_ms == 0)
		loop_timer_set(log->loop, &log->timer, pause_ms(log), pause_over, log);
}

void joblog_flush(struct joblog *log, loop_work_fn fn, void *data)
{
	log->flushed = fn;
	log->flushed_data = data;
	joblog_push(log);
	check_flushed(log);
}

/* ---- lines ---- */

/* Ends a log that is too long, with an explanatory line. */
static void pending_cut(struct joblog *log)
{
	log->cut = true;
	buf_printf(&log->pending, "%sThe log is too long: the rest of it is not kept.\n", log->within_line ? "\n" : "");
	if (log->full)
		log->full(log->full_data);
}

/* `end` is the line end, or "" after a piece of a line. */
static void pending_add(struct joblog *log, size_t len, const char *end)
{
	size_t before = log->pending.len;

	if (log->cut || log->channel->over)
		return;
	if (log->offset + before + len > log->max ||
		redact(log->redactor, buf_str(&log->line), len, &log->pending) < 0 ||
		buf_text(&log->pending, end) < 0) {
		buf_cut(&log->pending, before);
		pending_cut(log);
	}
	log->within_line = !*end;
}

/* Takes the first `len` bytes of a line that is longer than the buffer. They get no line end, so that the line stays
 * whole in the log: an event of several MiB is one JSON text. `on_line` does not get such a line. */
static void piece_take(struct joblog *log, size_t len)
{
	pending_add(log, len, "");
	buf_consume(&log->line, len);
	log->long_line = true;
}

static void line_take(struct joblog *log)
{
	if (log->on_line && !log->long_line)
		log->on_line(log->on_line_data, buf_str(&log->line), log->line.len);
	pending_add(log, log->line.len, "\n");
	buf_reset(&log->line);
	log->long_line = false;
}

/* Splits the bytes into lines. A line that exceeds the limit is taken in pieces. */
static void bytes_take(struct joblog *log, const char *bytes, size_t len)
{
	while (len > 0) {
		size_t max = len < MAX_READ ? len : MAX_READ;
		const char *end = memchr(bytes, '\n', max);
		size_t part = end ? (size_t)(end - bytes) : max;

		while (buf_append(&log->line, bytes, part) < 0)
			piece_take(log, redact_settled(log->redactor, buf_str(&log->line), log->line.len));
		if (end)
			line_take(log);
		part += end != NULL;
		bytes += part;
		len -= part;
	}
}

void joblog_write(struct joblog *log, const char *text)
{
	bytes_take(log, text, strlen(text));
	send_soon(log);
}

/* ---- the engine's output ---- */

static void output_copy(struct joblog *log, const char *bytes, size_t len)
{
	if (log->copy < 0)
		return;
	log->copied += len;
	if (log->copied <= log->max + COPY_MORE && write_fully(log->copy, bytes, len) == 0)
		return;
	log->copy = -1;
	if (log->copied <= log->max + COPY_MORE)
		log->copy_failed(log->copy_failed_data);
}

/* Reads once. True if there may be more. */
static bool output_read(struct joblog *log)
{
	char chunk[MAX_READ];
	ssize_t got = read(log->fd, chunk, sizeof(chunk));

	if (got > 0) {
		output_copy(log, chunk, (size_t)got);
		bytes_take(log, chunk, (size_t)got);
	}
	return got > 0 || (got < 0 && errno == EINTR);
}

static void output_ready(void *data, int fd, unsigned events)
{
	struct joblog *log = data;

	(void)fd;
	if (!output_read(log) && (events & (EPOLLHUP | EPOLLERR))) {
		loop_unwatch(log->loop, log->fd);
		log->reading = false;
		close(log->fd);
		log->fd = -1;
	}
	send_soon(log);
	reading_set(log);
}

void joblog_attach(struct joblog *log, int fd, joblog_line_fn on_line, void *data)
{
	log->fd = fd;
	log->on_line = on_line;
	log->on_line_data = data;
	reading_set(log);
}

void joblog_copy(struct joblog *log, int fd, void (*failed)(void *data), void *data)
{
	log->copy = fd;
	log->copied = 0;
	log->copy_failed = failed;
	log->copy_failed_data = data;
}

void joblog_detach(struct joblog *log)
{
	while (log->fd >= 0 && output_read(log))
		;
	if (log->line.len > 0 || log->long_line)
		line_take(log);
	if (log->fd >= 0) {
		loop_unwatch(log->loop, log->fd);
		close(log->fd);
	}
	log->fd = log->copy = -1;
	log->reading = false;
	log->on_line = NULL;
	send_soon(log);
}
