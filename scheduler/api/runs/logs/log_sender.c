/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/logs/log_sender.h"

#include <pthread.h>
#include <string.h>

#include "common/ids.h"
#include "common/log.h"
#include "scheduler/api/runs/logs/log_lines.h"
#include "scheduler/api/server/thread_store.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/content/contents.h"

/* MAX_LINE: a worker's lines are not longer than 1 MiB. A longer line becomes several JSON lines. */
enum { THREADS = 2, MAX_LINE = 2 << 20, MAX_JSON = 16 * MAX_LINE };

enum state { FREE, IDLE, QUEUED, BUSY };

struct transfer {
	struct log_sender *sender;
	enum state state; /* under the sender's lock, as `again` */
	bool again;       /* while BUSY: the client wants more */
	struct http_stream *stream;
	struct id user, content;
	int (*read)(struct store *store, const struct blob_range *range, struct buf *out, struct err *err);
	long long from, to; /* the rest that is to be read */
	bool json;
	struct buf line;  /* JSON: the beginning of a line that is not read to its end */
	struct buf ready; /* to be written to the stream */
};

struct log_sender {
	struct thread_stores *stores;
	struct objects *objects;
	pthread_t threads[THREADS];
	size_t thread_count;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct transfer transfers[MAX_LOGS_SENT];
	struct transfer *queue[MAX_LOGS_SENT]; /* a transfer is in it at most once */
	size_t first, count;
	bool stopping;
};

/* ---- the queue ---- */

/* The sender's lock is held. */
static void queue_add(struct transfer *t)
{
	struct log_sender *sender = t->sender;

	t->state = QUEUED;
	t->again = false;
	sender->queue[(sender->first + sender->count++) % MAX_LOGS_SENT] = t;
	pthread_cond_signal(&sender->changed);
}

/* The client was sent everything, or has gone (http_stream_watch). */
static void transfer_wanted(void *data)
{
	struct transfer *t = data;

	pthread_mutex_lock(&t->sender->mutex);
	if (t->state == IDLE && !t->sender->stopping)
		queue_add(t);
	else
		t->again = true;
	pthread_mutex_unlock(&t->sender->mutex);
}

/* NULL after the stop. */
static struct transfer *queue_next(struct log_sender *sender)
{
	struct transfer *t = NULL;

	pthread_mutex_lock(&sender->mutex);
	while (!sender->count && !sender->stopping)
		pthread_cond_wait(&sender->changed, &sender->mutex);
	if (!sender->stopping) {
		t = sender->queue[sender->first];
		sender->first = (sender->first + 1) % MAX_LOGS_SENT;
		sender->count--;
		t->state = BUSY;
	}
	pthread_mutex_unlock(&sender->mutex);
	return t;
}

/* ---- one step of a transfer ---- */

/* Reads the next piece, also from the object store. */
static int piece_read(struct transfer *t, struct buf *piece, struct err *err)
{
	_cleanup_(contents_release) struct contents contents = {.count = 0};
	struct store *store = thread_store(t->sender->stores);
	const long long left = t->to - t->from;
	const struct blob_range range = {t->content.text, t->from, left < LOG_PIECE ? left : LOG_PIECE};
	int result;

	store->contents = &contents;
	result = t->read(store, &range, piece, err);
	while (result < 0 && contents.wanted.key[0]) {
		*err = (struct err)ERR_INIT;
		buf_cut(piece, 0);
		result = contents_fetch(&contents, t->sender->objects, err);
		if (result == 0)
			result = t->read(store, &range, piece, err);
	}
	store->contents = NULL;
	if (result < 0)
		return -1;
	if (!piece->len)
		return err_set(err, ERR_INTERNAL, "the content ends before its length");
	t->from += (long long)piece->len;
	return 0;
}

/* The lines that are complete, or all that was read if the log has ended. */
static int lines_make(struct transfer *t, const struct buf *piece, struct err *err)
{
	const char *end;
	size_t whole;

	if (buf_append(&t->line, piece->data, piece->len) < 0)
		return err_set(err, ERR_TOO_LARGE, "a line of the log is too long");
	end = memrchr(t->line.data, '\n', t->line.len);
	whole = end ? (size_t)(end - t->line.data) + 1 : 0;
	if (t->from == t->to || t->line.len > MAX_LINE)
		whole = t->line.len;
	log_lines_json(t->line.data, whole, &t->ready);
	buf_consume(&t->line, whole);
	return 0;
}

static int ready_fill(struct transfer *t, struct err *err)
{
	_cleanup_(buf_release) struct buf piece = BUF_INIT(LOG_PIECE);

	if (piece_read(t, &piece, err) < 0)
		return -1;
	if (t->json)
		return lines_make(t, &piece, err);
	t->ready.data = piece.data;
	t->ready.len = piece.len;
	t->ready.cap = piece.cap;
	piece.data = NULL;
	return 0;
}

/* Writes what fits at a time. */
static enum http_stream_result ready_write(struct transfer *t)
{
	const size_t len = t->ready.len < LOG_PIECE ? t->ready.len : LOG_PIECE;
	enum http_stream_result result = http_stream_write(t->stream, buf_str(&t->ready), len);

	if (result == HTTP_STREAM_TAKEN)
		buf_consume(&t->ready, len);
	if (!t->ready.len)
		buf_release(&t->ready);
	return result;
}

/* Returns false at the end, or if the client has gone. */
static bool transfer_step(struct transfer *t, struct err *err)
{
	while (!t->ready.len && t->from < t->to)
		if (ready_fill(t, err) < 0)
			return false;
	return (!t->ready.len || ready_write(t) != HTTP_STREAM_GONE) && (t->ready.len || t->from < t->to);
}

/* Nothing calls transfer_wanted afterwards. */
static void transfer_end(struct transfer *t, const struct err *err)
{
	if (err->kind != ERR_NONE)
		log_warn("a log or an archive is broken off", "content", t->content.text, "error", err->message, NULL);
	if (err->kind != ERR_NONE || t->from < t->to || t->ready.len)
		http_stream_fail(t->stream);
	else
		http_stream_end(t->stream);
	buf_release(&t->line);
	buf_release(&t->ready);
	pthread_mutex_lock(&t->sender->mutex);
	t->state = FREE;
	pthread_mutex_unlock(&t->sender->mutex);
}

static void transfer_run(struct transfer *t)
{
	struct err err = ERR_INIT;

	if (!transfer_step(t, &err)) {
		transfer_end(t, &err);
		return;
	}
	pthread_mutex_lock(&t->sender->mutex);
	t->state = IDLE;
	if (t->again)
		queue_add(t);
	pthread_mutex_unlock(&t->sender->mutex);
}

static void *thread_run(void *data)
{
	struct transfer *t;

	while ((t = queue_next(data)))
		transfer_run(t);
	return NULL;
}

/* ---- start, stop, use ---- */

int log_sender_start(
	struct thread_stores *stores, struct objects *objects, struct log_sender **ret_sender, struct err *err)
{
	struct log_sender *sender = mem_new(1, sizeof(*sender));

	sender->stores = stores;
	sender->objects = objects;
	pthread_mutex_init(&sender->mutex, NULL);
	pthread_cond_init(&sender->changed, NULL);
	for (; sender->thread_count < THREADS; sender->thread_count++)
		if (pthread_create(&sender->threads[sender->thread_count], NULL, thread_run, sender) != 0) {
			log_sender_stop(sender);
			log_sender_free(sender);
			return err_set(err, ERR_INTERNAL, "no more threads");
		}
	*ret_sender = sender;
	return 0;
}

/* A free place, or NULL if there is none, or if the user has too many. The sender's lock is held. */
static struct transfer *place_find(struct log_sender *sender, const char *user)
{
	struct transfer *found = NULL;
	int users = 0;

	for (size_t i = 0; i < MAX_LOGS_SENT; i++) {
		struct transfer *t = &sender->transfers[i];

		if (t->state == FREE)
			found = t;
		else if (text_equal(t->user.text, user))
			users++;
	}
	return users < MAX_LOGS_PER_USER && !sender->stopping ? found : NULL;
}

static struct transfer *place_take(struct log_sender *sender, const struct log_order *order)
{
	struct transfer *t;

	pthread_mutex_lock(&sender->mutex);
	t = place_find(sender, order->user);
	if (t) {
		*t = (struct transfer){.sender = sender,
			.state = BUSY,
			.read = order->read,
			.from = order->from,
			.to = order->to,
			.json = order->json,
			.line = BUF_INIT(MAX_LINE + LOG_PIECE),
			.ready = BUF_INIT(MAX_JSON)};
		text_copy(t->user.text, ID_SIZE, order->user);
		text_copy(t->content.text, ID_SIZE, order->content_id);
	}
	pthread_mutex_unlock(&sender->mutex);
	return t;
}

/* Streams are locked before the sender (transfer_wanted), so never within its lock. */
int log_send(struct log_sender *sender, const struct log_order *order, struct http_stream **ret_stream, struct err *err)
{
	struct transfer *t = place_take(sender, order);

	if (!t)
		return err_set(err, ERR_UNAVAILABLE, "too many logs or archives are being sent: try again");
	t->stream = *ret_stream = http_stream_new(2 * LOG_PIECE);
	http_stream_watch(t->stream, transfer_wanted, t);
	pthread_mutex_lock(&sender->mutex);
	queue_add(t);
	pthread_mutex_unlock(&sender->mutex);
	return 0;
}

void log_sender_stop(struct log_sender *sender)
{
	const struct err none = ERR_INIT;

	if (!sender)
		return;
	pthread_mutex_lock(&sender->mutex);
	sender->stopping = true;
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->mutex);
	for (size_t i = 0; i < sender->thread_count; i++)
		pthread_join(sender->threads[i], NULL);
	sender->thread_count = 0;
	for (size_t i = 0; i < MAX_LOGS_SENT; i++)
		if (sender->transfers[i].state != FREE)
			transfer_end(&sender->transfers[i], &none);
}

void log_sender_free(struct log_sender *sender)
{
	if (!sender)
		return;
	pthread_cond_destroy(&sender->changed);
	pthread_mutex_destroy(&sender->mutex);
	free(sender);
}
