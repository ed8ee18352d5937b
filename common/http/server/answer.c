/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/http/server/pending.h"
#include "common/log.h"
#include "common/memory.h"

enum {
	STREAM_BLOCK = 4096,          /* libmicrohttpd reads a stream in blocks of this size */
	STREAM_FILE_BLOCK = 32 << 10, /* and a finite one */
};

enum { OWN_HEADERS_LIMIT = 16 << 10 };

void http_add_header(struct http_answer *answer, const char *name, const char *value)
{
	answer->own.limit = OWN_HEADERS_LIMIT;
	buf_printf(&answer->own, "%s\n%.*s\n", name, (int)strcspn(value, "\r\n"), value);
}

/* Returns false when out of memory. Values that are not valid in a header are left out. */
static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
	return !value || !*value || MHD_add_response_header(response, name, value) == MHD_YES ||
		strpbrk(value, "\t\r\n");
}

static bool add_own_headers(struct MHD_Response *response, struct http_answer *answer)
{
	_cleanup_(freep) char *text = buf_take(&answer->own);
	char *rest = text, *name, *value;

	while ((name = strsep(&rest, "\n")) && (value = strsep(&rest, "\n")))
		if (!add_header(response, name, value))
			return false;
	return true;
}

static bool add_headers(struct MHD_Response *response, struct http_answer *answer)
{
	for (size_t i = 0; answer->extra && answer->extra[i][0]; i++)
		if (!add_header(response, answer->extra[i][0], answer->extra[i][1]))
			return false;
	return add_header(response, "Content-Type", answer->content_type) &&
		add_header(response, "Location", answer->location) &&
		add_header(response, "Retry-After", answer->retry_after) && add_own_headers(response, answer);
}

/* ---- streams ---- */

static void stream_begin(struct http_pending *pending, struct http_stream *stream, uint64_t limit)
{
	struct httpd *server = pending->server;
	int64_t now = clock_mono_ms();
	struct MHD_Connection *connection = pending->request.connection;
	int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

	http_client_phase(pending->client, HTTP_ANSWER, now,
		limit ? now + httpd_time_for(server, (size_t)limit) : HTTP_NO_DEADLINE);
	if (pending->in_flight)
		http_share_leave(server->clients, pending->share);
	pending->in_flight = false;
	pending->share = NULL;
	pending->stream_is_finite = limit > 0;
	http_client_stream(server->clients, pending->client);
	pending->ends_connection = true;
	pending->stream = stream;
	http_stream_bind(stream, connection, fd);
	pthread_mutex_lock(&server->mutex);
	pending->next_stream = server->streams;
	if (server->streams)
		server->streams->previous_stream = pending;
	server->streams = pending;
	if (server->stops)
		http_stream_close(stream, pending->stream_is_finite);
	pthread_mutex_unlock(&server->mutex);
}

void httpd_stream_end(struct http_pending *pending)
{
	struct httpd *server = pending->server;

	pthread_mutex_lock(&server->mutex);
	*(pending->previous_stream ? &pending->previous_stream->next_stream : &server->streams) = pending->next_stream;
	if (pending->next_stream)
		pending->next_stream->previous_stream = pending->previous_stream;
	pthread_mutex_unlock(&server->mutex);
	http_stream_leave(pending->stream);
}

void httpd_streams_close(struct httpd *server)
{
	pthread_mutex_lock(&server->mutex);
	server->stops = true;
	for (struct http_pending *at = server->streams; at; at = at->next_stream)
		http_stream_close(at->stream, at->stream_is_finite);
	pthread_mutex_unlock(&server->mutex);
}

static ssize_t stream_read(void *cls, uint64_t position, char *bytes, size_t max)
{
	long len = http_stream_read(cls, bytes, max);

	(void)position;
	if (len == HTTP_STREAM_BROKEN)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return len < 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)len;
}

/* ---- sources ---- */

void http_source_release(struct http_source *source)
{
	if (source->read)
		source->release(source->data);
	*source = (struct http_source){.read = NULL};
}

static ssize_t source_read(void *cls, uint64_t position, char *bytes, size_t max)
{
	const struct http_source *source = cls;
	size_t len = source->read(source->data, position, bytes, max);

	return len ? (ssize_t)len : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void source_free(void *cls)
{
	http_source_release(cls);
	free(cls);
}

/* Takes the source. */
static struct MHD_Response *source_response(struct http_pending *pending, struct http_source *source)
{
	struct http_source *taken = mem_new(1, sizeof(*taken));
	struct MHD_Response *response;
	int64_t now = clock_mono_ms();

	*taken = *source;
	*source = (struct http_source){.read = NULL};
	http_client_phase(
		pending->client, HTTP_ANSWER, now, now + httpd_time_for(pending->server, (size_t)taken->size));
	response = MHD_create_response_from_callback(taken->size, STREAM_FILE_BLOCK, source_read, taken, source_free);
	if (!response)
		source_free(taken);
	return response;
}

/* ---- answers ---- */

/* Takes the answer's body, its source or its stream. */
static struct MHD_Response *response_new(struct http_pending *pending, struct http_answer *answer)
{
	size_t len = answer->body.len;
	char *bytes = buf_take(&answer->body);
	struct http_stream *stream = answer->stream;
	struct MHD_Response *response;
	int64_t now = clock_mono_ms();

	memory_used(len);
	answer->stream = NULL;
	if (stream) {
		free(bytes);
		stream_begin(pending, stream, answer->stream_limit);
		return MHD_create_response_from_callback(answer->stream_size ? answer->stream_size : MHD_SIZE_UNKNOWN,
			answer->stream_limit ? STREAM_FILE_BLOCK : STREAM_BLOCK, stream_read, stream, NULL);
	}
	if (answer->source.read) {
		free(bytes);
		return source_response(pending, &answer->source);
	}
	http_client_phase(pending->client, HTTP_ANSWER, now, now + httpd_time_for(pending->server, len));
	response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(bytes);
	return response;
}

/* Counts a large answer, which stays in memory until the client has read it, or refuses it. */
static void answer_count(struct http_pending *pending, struct http_answer *answer)
{
	const struct httpd_spec *spec = &pending->server->spec;
	char size[24];

	if (answer->body.len <= HTTP_ANSWER_SMALL || !text_equal(pending->request.method, "GET"))
		return;
	pending->budget = spec->answer_budget ? spec->answer_budget(&pending->request) : HTTP_BUDGET_ANSWERS;
	if (httpd_budget_take(pending, answer->body.len))
		return;
	snprintf(size, sizeof(size), "%zu", answer->body.len);
	log_warn("a large answer is refused: clients have not read others yet", "request", pending->request.id,
		"address", pending->request.address, "bytes", size, NULL);
	buf_release(&answer->body);
	buf_release(&answer->own);
	httpd_refusal_fill(pending->server, 503, "too many large answers are being sent: try again", answer);
}

/* Frees the request's body. */
enum MHD_Result httpd_answer_send(struct http_pending *pending, struct http_answer *answer)
{
	struct MHD_Response *response;
	enum MHD_Result result = MHD_NO; /* closes the connection without an answer */

	httpd_body_release(pending);
	answer_count(pending, answer);
	response = response_new(pending, answer);
	if (!response)
		return MHD_NO;
	/* An answer must not be sent without its headers: the client would miss Location or Retry-After. */
	if (add_headers(response, answer) && add_header(response, "X-Request-Id", pending->request.id) &&
		(!pending->ends_connection || add_header(response, "Connection", "close")))
		result = MHD_queue_response(pending->request.connection, (unsigned int)answer->status, response);
	MHD_destroy_response(response);
	return result;
}

struct http_pending *http_later(const struct http_request *request)
{
	struct http_pending *pending = (struct http_pending *)(uintptr_t)request;

	pending->later = true;
	MHD_suspend_connection(request->connection);
	return pending;
}

void http_answer_now(struct http_pending *pending, struct http_answer *answer)
{
	pending->answer = *answer;
	MHD_resume_connection(pending->request.connection);
}
