/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_HTTPD_H
#define COMMON_HTTP_HTTPD_H

/*
 * An HTTP server over libmicrohttpd: a pool of epoll threads, one handler for all requests, bodies bounded before
 * they are read. Malformed requests are answered 400 and end their connection (common/http/http_head.h); connections
 * are limited by client and by time (common/http/http_clients.h). The handler runs in one of the pool's threads with
 * the whole body at hand. It answers at once, or says that the answer comes later: then its thread goes on with other
 * connections, so that thousands can wait.
 */

#include "common/buf.h"
#include "common/http/http_clients.h"

struct err;
struct guard;

enum http_body_refusal {
	HTTP_BODY_TAKEN,
	HTTP_BODY_TOO_LARGE,
	HTTP_BODY_NOT_ADMITTED, /* body_admit refused what is over HTTP_BODY_UNKNOWN bytes */
	HTTP_BODY_BUSY,         /* the budget, or the client's half of it, is used up: the client may try again */
};

struct http_request {
	const char *method;                  /* "GET" */
	const char *path;                    /* decoded, without the query */
	struct buf body;                     /* owned by the server */
	void *connection;                    /* for the two readers below */
	enum http_body_refusal body_refused; /* why there is no body though one was sent */
	const void *target;                  /* what body_limit found it to be for; NULL before */
	char address[HTTP_ADDRESS_SIZE];     /* of the client; behind a trusted proxy the one that it forwards for */
};

struct http_answer {
	int status;
	const char *content_type; /* borrowed; NULL: none */
	struct buf body;          /* handed to the server */
	char location[1024];      /* for redirects; empty: none */
	char retry_after[24];     /* seconds, or empty */
	const char *(*extra)[2];  /* more headers, borrowed, ended by {NULL, NULL}; or NULL */
	struct buf own;           /* this answer's own headers, by http_add_header; handed to the server */
};

/* Adds a header to this answer alone. Whatever follows a line's end in the value is left out. */
void http_add_header(struct http_answer *answer, const char *name, const char *value);

/* A header of the request, or NULL. Borrowed until the handler returns. */
const char *http_header(const struct http_request *request, const char *name);
/* The same; of a header that was sent several times the last. */
const char *http_header_last(const struct http_request *request, const char *name);
/* A cookie of the request, or NULL. Borrowed. */
const char *http_cookie(const struct http_request *request, const char *name);
/* Replaces the address of a trusted proxy by the address that it forwards for, through any number of them. */
void http_forwarded_address(
	const struct http_request *request, const struct guard *proxies, char address[HTTP_ADDRESS_SIZE]);
/* A query parameter, decoded ("page[size]"), or NULL. Borrowed. */
const char *http_query(const struct http_request *request, const char *name);
/* Calls back for each query parameter. */
void http_query_each(
	const struct http_request *request, void (*each)(void *data, const char *name, const char *value), void *data);

/* ---- an answer that comes later ---- */

struct http_pending;

/* To be called by the handler that does not answer now; it returns right after it has handed the result on, and what it
 * put into its *answer is not sent. The request's texts and body stay until the answer is given. */
struct http_pending *http_later(const struct http_request *request);
/* Gives the answer, from any thread, once; takes its body. Every pending request needs it before httpd_stop. */
void http_answer_now(struct http_pending *pending, struct http_answer *answer);

struct httpd_spec {
	const char *address; /* "127.0.0.1:0" binds a free port */
	int threads;
	int most_connections;
	int most_per_client;          /* connections, or requests in flight behind a proxy; 0: any number */
	const struct guard *proxies;  /* trusted ones, whose X-Forwarded-For names the client; NULL: none */
	int request_seconds;          /* for a header; for a body, to which each 8 KiB adds a second; 0: 30 */
	size_t budgets[HTTP_BUDGETS]; /* most bytes of memory for bodies; 0: no such bound */
	size_t connection_memory;     /* for one connection's headers and reads; 0: libmicrohttpd's 32 KiB */
	bool tls;                     /* with what certificate_load read (common/http/certificate.h) */
	void *data;
	/* The most bytes that the request may carry; it may be given its target. Asked with each request, before its
	 * body is read. NULL: no request has a body. */
	size_t (*body_limit)(void *data, struct http_request *request);
	/* The budget of a body of more than HTTP_BODY_UNKNOWN bytes, or -1 to refuse it; asked once, before more of it
	 * is read. NULL: HTTP_BUDGET_CLIENTS for all. */
	int (*body_admit)(void *data, const struct http_request *request);
	/* Fills the answer to a request that the server itself refuses: `status` and `why`. NULL: a line of text. */
	void (*refuse)(int status, const char *why, struct http_answer *answer);
	/* Fills *answer, which comes as {.status = 200}. Runs in a server thread. */
	void (*handle)(void *data, const struct http_request *request, struct http_answer *answer);
};

struct httpd;

/* Whether an address can be listened on now. ERR_INVALID: it is none. ERR_INTERNAL: another process uses its port, or
 * no interface has it. */
int httpd_check(const char *address, struct err *err);
int httpd_start(const struct httpd_spec *spec, struct httpd **ret_server, struct err *err);
/* The port that is bound. */
int httpd_port(const struct httpd *server);
/* Writes it to a file, in which whoever waits for it finds the whole number. */
int httpd_write_port(const struct httpd *server, const char *path, struct err *err);
/* Lets answers that came later be sent, for a few seconds at most, takes no new connections, and ends the threads. */
void httpd_stop(struct httpd *server);

/* Answers /healthz (200), /readyz (by `ready`, NULL: always) and /metrics; false for any other path. */
bool httpd_observe(const struct http_request *request, bool (*ready)(void *data, struct buf *why), void *data,
	struct http_answer *answer);

#endif
