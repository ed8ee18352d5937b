/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_HTTPD_H
#define COMMON_HTTP_HTTPD_H

/*
 * An HTTP server over libmicrohttpd: a pool of epoll threads, one handler for all requests, and bodies whose size is
 * bounded before they are read.
 *
 *  - Malformed requests are answered 400, and their connections are closed (common/http/http_head.h).
 *  - Connections are limited by client and by time (common/http/http_clients.h).
 *  - The handler runs in one of the pool's threads and has the whole body.
 *  - Every answer has the header X-Request-Id, except those of libmicrohttpd to some malformed requests.
 *  - The handler answers at once, or defers the answer with http_later. Its thread then serves other connections, so
 * that thousands of requests can wait.
 *  - An answer may be a stream (common/http/stream/http_stream.h). Streams are not counted as connections.
 */

#include "common/buf.h"
#include "common/http/http_clients.h"
#include "common/http/stream/http_stream.h"

struct err;
struct guard;

enum http_body_refusal {
	HTTP_BODY_TAKEN,
	HTTP_BODY_TOO_LARGE,
	HTTP_BODY_NOT_ADMITTED, /* body_admit refused a body of over HTTP_BODY_UNKNOWN bytes */
	HTTP_BODY_BUSY,         /* the budget, or the client's half of it, is used up: the client may retry */
};

enum { HTTP_REQUEST_ID_SIZE = 65 };

struct http_request {
	const char *method; /* "GET" */
	const char *path;   /* decoded, without the query */
	char *raw_query;    /* as received, or NULL: some signatures are over it. Owned by the server */
	struct buf body;    /* owned by the server */
	void *connection;   /* internal */
	enum http_body_refusal body_refused; /* why a body that was sent is missing */
	const void *target;                  /* set by body_limit to what the request is for; NULL before */
	char address[HTTP_ADDRESS_SIZE];     /* of the client; for a trusted proxy, the address that it forwards for */
	char id[HTTP_REQUEST_ID_SIZE];       /* of the answer's X-Request-Id; the client's, or a new one */
};

/* A body that the server reads while it sends it, of a known size. */
struct http_source {
	uint64_t size;
	/* Reads up to `max` bytes at the position, which only advances. 0: the content can't be read, and the
	 * connection is closed. Runs in a server thread. NULL: there is no source. */
	size_t (*read)(void *data, uint64_t position, char *bytes, size_t max);
	void (*release)(void *data);
	void *data;
};

struct http_answer {
	int status;
	const char *content_type; /* borrowed; NULL: none */
	struct buf body;          /* owned by the server from then on */
	char location[1024];      /* for redirects; empty: none */
	char retry_after[24];     /* seconds, or empty */
	const char *(*extra)[2];  /* more headers, borrowed, ended by {NULL, NULL}; or NULL */
	struct buf own; /* headers of this answer alone, by http_add_header; owned by the server from then on */
	struct http_source source;  /* owned by the server from then on; `body` is not sent then */
	struct http_stream *stream; /* the answer's reference; `body` is not sent then. The connection ends with it */
	uint64_t stream_size;       /* the bytes of a finite stream, if known; 0: unknown */
	uint64_t stream_limit;      /* the most bytes of a finite stream, for its deadline; 0: it has no end */
};

/* Frees a source that is not sent. */
void http_source_release(struct http_source *source);
/* Adds a header to this answer alone. The value is cut at its first line end. */
void http_add_header(struct http_answer *answer, const char *name, const char *value);

/* Sets the request's id: the header X-Request-Id of 1 to 64 characters of [A-Za-z0-9._-], else a new one. */
void http_request_id_set(struct http_request *request);
/* A header of the request, or NULL. Borrowed until the handler returns. */
const char *http_header(const struct http_request *request, const char *name);
/* The same; if the header was sent several times, the last one. */
const char *http_header_last(const struct http_request *request, const char *name);
/* A cookie of the request, or NULL. Borrowed. */
const char *http_cookie(const struct http_request *request, const char *name);
/* Replaces the address of a trusted proxy by the address that it forwards for, through any number of proxies. */
void http_forwarded_address(
	const struct http_request *request, const struct guard *proxies, char address[HTTP_ADDRESS_SIZE]);
/* A query parameter, decoded ("page[size]"), or NULL. Borrowed. */
const char *http_query(const struct http_request *request, const char *name);
/* Calls `each` for every query parameter. */
void http_query_each(
	const struct http_request *request, void (*each)(void *data, const char *name, const char *value), void *data);

/* ---- deferred answers ---- */

struct http_pending;

/* Defers the answer. The handler must return right after it has passed the result on; the server ignores the
 * handler's *answer. The request's texts and body stay valid until the answer is given. */
struct http_pending *http_later(const struct http_request *request);
/* Gives a deferred answer, from any thread, once. Takes its body. Every pending request must be answered before
 * httpd_stop. */
void http_answer_now(struct http_pending *pending, struct http_answer *answer);

struct httpd_spec {
	const char *address; /* "127.0.0.1:0" binds a free port */
	int threads;
	int max_connections;
	int max_streams;             /* in addition; their owner must not open more */
	int max_per_client;          /* connections, or requests in flight behind a proxy; 0: any number */
	const struct guard *proxies; /* trusted proxies, whose X-Forwarded-For names the client; NULL: none */
	int request_seconds;         /* time for a header and for a body, which gets one more second per 8 KiB; 0: 30 */
	size_t budgets[HTTP_BUDGETS]; /* bytes of memory for bodies and answers; 0: unlimited */
	size_t connection_memory;     /* for one connection's headers and reads; 0: libmicrohttpd's 32 KiB */
	bool tls;                     /* with the certificate of certificate_load (common/http/certificate.h) */
	void *data;
	/* Returns the most bytes that the request's body may have, and may set the request's target. Called for each
	 * request before its body is read. NULL: no request has a body. */
	size_t (*body_limit)(void *data, struct http_request *request);
	/* Returns the budget of a body of more than HTTP_BODY_UNKNOWN bytes, or -1 to refuse it. Called once, before
	 * more of it is read. NULL: HTTP_BUDGET_CLIENTS for all. */
	int (*body_admit)(void *data, const struct http_request *request);
	/* The budget of a large answer. NULL: HTTP_BUDGET_ANSWERS for all. */
	enum http_budget (*answer_budget)(const struct http_request *request);
	/* Fills the answer to a request that the server itself refuses, from `status` and `why`. NULL: a line of
	 * text. */
	void (*refuse)(int status, const char *why, struct http_answer *answer);
	/* Fills *answer, which is initialized to {.status = 200}. Runs in a server thread. */
	void (*handle)(void *data, const struct http_request *request, struct http_answer *answer);
};

struct httpd;

/* Checks whether the server could listen on the address now. ERR_INVALID: not an address. ERR_INTERNAL: another
 * process uses the port, or no interface has the address. */
int httpd_check(const char *address, struct err *err);
int httpd_start(const struct httpd_spec *spec, struct httpd **ret_server, struct err *err);
/* The port that is bound. */
int httpd_port(const struct httpd *server);
/* Ends all streams, refuses further requests, waits a few seconds at most for the answers of handled ones and for
 * streams to be sent, and joins the threads. Owners of streams may end them before or after. */
void httpd_stop(struct httpd *server);

/* Answers /healthz (200), /readyz (by `ready`, NULL: always) and /metrics; false for any other path. */
bool httpd_observe(const struct http_request *request, bool (*ready)(void *data, struct buf *why), void *data,
	struct http_answer *answer);

#endif
