/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_STREAM_HTTP_STREAM_H
#define COMMON_HTTP_STREAM_HTTP_STREAM_H

/*
 * An answer whose owner writes to it from any thread, while the server sends what was written. Between writes its
 * connection is suspended, so an idle stream costs no thread. A bounded buffer keeps the bytes that a slow client has
 * not read yet. An answer has no end (events), or it is finite (a long file): then its owner writes more whenever the
 * client has been sent everything.
 *
 * A handler sets `stream` of its answer. A stream has two references: one of its owner, who drops it with
 * http_stream_end, and one of the answer, which the server drops when the connection has ended.
 */

#include "common/base.h"

struct http_stream;
struct MHD_Connection;

enum http_stream_result {
	HTTP_STREAM_TAKEN,
	HTTP_STREAM_FULL, /* the bytes do not fit into the buffer; nothing of them is sent */
	HTTP_STREAM_GONE, /* the connection has ended */
};

/* `limit`: of the bytes that wait for the client. */
struct http_stream *http_stream_new(size_t limit);
/* The bytes are sent as a whole or not at all. */
enum http_stream_result http_stream_write(struct http_stream *stream, const char *bytes, size_t len);
/* Drops what waits for the client, except for what precedes and includes the first `end`: so a message that is partly
 * sent stays whole. */
void http_stream_drop(struct http_stream *stream, const char *end);
/* True if the client has closed the connection. A suspended connection is not read, so nothing else notices it before
 * the next write. */
bool http_stream_gone(struct http_stream *stream);
/* Calls `wanted` each time everything that was written has been taken for the client, and when the connection has
 * ended; no more after http_stream_end or http_stream_fail. It runs in a thread of the server, with the stream locked,
 * so it must not call these functions. */
void http_stream_watch(struct http_stream *stream, void (*wanted)(void *data), void *data);
/* Sends what waits for the client, closes the connection, and drops the owner's reference. NULL-safe. */
void http_stream_end(struct http_stream *stream);
/* The same for an answer that lacks its rest: the client notices. */
void http_stream_fail(struct http_stream *stream);

/* ---- for the server (http/server) ---- */

/* Sends the stream to this connection from now on. */
void http_stream_bind(struct http_stream *stream, struct MHD_Connection *connection, int fd);
enum { HTTP_STREAM_ENDED = -1, HTTP_STREAM_BROKEN = -2 };
/* Copies what is next into `bytes`. Returns the number of bytes, 0 after it has suspended the connection, or one of the
 * two above at the stream's end. */
long http_stream_read(struct http_stream *stream, char *bytes, size_t max);
/* No more is written to the stream than what waits already. `broken`: its rest is missing. */
void http_stream_close(struct http_stream *stream, bool broken);
/* The connection has ended: drops the answer's reference. */
void http_stream_leave(struct http_stream *stream);

#endif
