/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/stream/http_stream.h"

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/buf.h"

enum { TOTAL_LIMIT = 256 << 20 };

/* The bytes that wait for the clients of all streams. */
static atomic_size_t total;

struct http_stream {
	pthread_mutex_t mutex;
	struct buf waiting;
	struct MHD_Connection *connection; /* NULL before http_stream_bind, and after http_stream_leave */
	int fd;                            /* of the connection */
	int references;
	bool suspended;
	bool closed; /* nothing more is written */
	bool broken; /* it was closed before its end */
	bool gone;   /* the connection has ended */
	void (*wanted)(void *data);
	void *wanted_data;
};

struct http_stream *http_stream_new(size_t limit)
{
	struct http_stream *stream = mem_new(1, sizeof(*stream));

	pthread_mutex_init(&stream->mutex, NULL);
	stream->waiting = (struct buf)BUF_INIT(limit);
	stream->references = 2;
	stream->fd = -1;
	return stream;
}

static void waiting_drop(struct http_stream *stream)
{
	atomic_fetch_sub(&total, stream->waiting.len);
	buf_release(&stream->waiting);
}

/* Unlocks the stream, and frees it after its last reference. */
static void reference_drop(struct http_stream *stream)
{
	bool last = --stream->references == 0;

	pthread_mutex_unlock(&stream->mutex);
	if (!last)
		return;
	waiting_drop(stream);
	pthread_mutex_destroy(&stream->mutex);
	free(stream);
}

static void resume(struct http_stream *stream)
{
	if (!stream->suspended)
		return;
	stream->suspended = false;
	MHD_resume_connection(stream->connection);
}

static bool take(struct http_stream *stream, const char *bytes, size_t len)
{
	if (atomic_fetch_add(&total, len) + len <= TOTAL_LIMIT && buf_append(&stream->waiting, bytes, len) == 0)
		return true;
	atomic_fetch_sub(&total, len);
	return false;
}

enum http_stream_result http_stream_write(struct http_stream *stream, const char *bytes, size_t len)
{
	enum http_stream_result result = HTTP_STREAM_GONE;

	pthread_mutex_lock(&stream->mutex);
	if (!stream->gone && !stream->closed)
		result = take(stream, bytes, len) ? HTTP_STREAM_TAKEN : HTTP_STREAM_FULL;
	if (result == HTTP_STREAM_TAKEN)
		resume(stream);
	pthread_mutex_unlock(&stream->mutex);
	return result;
}

void http_stream_drop(struct http_stream *stream, const char *end)
{
	const char *found;
	size_t before;

	pthread_mutex_lock(&stream->mutex);
	found = strstr(buf_str(&stream->waiting), end);
	before = stream->waiting.len;
	if (found)
		buf_cut(&stream->waiting, (size_t)(found - stream->waiting.data) + strlen(end));
	atomic_fetch_sub(&total, before - stream->waiting.len);
	pthread_mutex_unlock(&stream->mutex);
}

bool http_stream_gone(struct http_stream *stream)
{
	struct pollfd peer = {.events = POLLRDHUP};
	bool gone;

	pthread_mutex_lock(&stream->mutex);
	peer.fd = stream->fd;
	gone = stream->gone || (peer.fd >= 0 && poll(&peer, 1, 0) > 0);
	pthread_mutex_unlock(&stream->mutex);
	return gone;
}

void http_stream_watch(struct http_stream *stream, void (*wanted)(void *data), void *data)
{
	pthread_mutex_lock(&stream->mutex);
	stream->wanted = wanted;
	stream->wanted_data = data;
	pthread_mutex_unlock(&stream->mutex);
}

static void want(struct http_stream *stream)
{
	if (stream->wanted)
		stream->wanted(stream->wanted_data);
}

static void owner_leave(struct http_stream *stream, bool broken)
{
	http_stream_close(stream, broken);
	pthread_mutex_lock(&stream->mutex);
	stream->wanted = NULL;
	reference_drop(stream);
}

void http_stream_end(struct http_stream *stream)
{
	if (stream)
		owner_leave(stream, false);
}

void http_stream_fail(struct http_stream *stream)
{
	owner_leave(stream, true);
}

void http_stream_bind(struct http_stream *stream, struct MHD_Connection *connection, int fd)
{
	pthread_mutex_lock(&stream->mutex);
	stream->connection = connection;
	stream->fd = fd;
	pthread_mutex_unlock(&stream->mutex);
}

long http_stream_read(struct http_stream *stream, char *bytes, size_t max)
{
	size_t len;
	long result;

	pthread_mutex_lock(&stream->mutex);
	len = stream->waiting.len < max ? stream->waiting.len : max;
	result = (long)len;
	if (len) {
		memcpy(bytes, stream->waiting.data, len);
		buf_consume(&stream->waiting, len);
		atomic_fetch_sub(&total, len);
	} else if (stream->closed) {
		result = stream->broken ? HTTP_STREAM_BROKEN : HTTP_STREAM_ENDED;
	} else {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
	}
	if (!stream->waiting.len) { /* an idle stream has no buffer */
		buf_release(&stream->waiting);
		want(stream);
	}
	pthread_mutex_unlock(&stream->mutex);
	return result;
}

void http_stream_close(struct http_stream *stream, bool broken)
{
	pthread_mutex_lock(&stream->mutex);
	stream->broken = stream->broken || (broken && !stream->closed);
	stream->closed = true;
	resume(stream);
	pthread_mutex_unlock(&stream->mutex);
}

void http_stream_leave(struct http_stream *stream)
{
	pthread_mutex_lock(&stream->mutex);
	stream->gone = true;
	stream->suspended = false;
	stream->connection = NULL;
	stream->fd = -1;
	waiting_drop(stream);
	want(stream);
	reference_drop(stream);
}
