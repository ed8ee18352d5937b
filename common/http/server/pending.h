/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_SERVER_PENDING_H
#define COMMON_HTTP_SERVER_PENDING_H

/* A request of the server from its headers to its end, and how its answer is sent. Only for server.c and answer.c. */

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/http/httpd.h"

struct httpd {
	struct httpd_spec spec;
	struct MHD_Daemon *daemon;
	int listener;
	int port;
	struct http_clients *clients;
	atomic_size_t body_bytes[HTTP_BUDGETS];
	pthread_mutex_t mutex;
	pthread_cond_t sent;
	size_t unsent;                /* requests that were handled, whose answer or stream is not sent yet */
	struct http_pending *streams; /* requests whose answer is a stream */
	pthread_t watch;
	pthread_cond_t stopped;
	bool stops; /* streams end, and no request is handled any more */
};

/* One request from its headers to its end. The handler sees only `request`. */
struct http_pending {
	struct http_request request; /* first: the handler's pointer to it is converted back */
	struct httpd *server;
	struct http_client *client;
	struct http_share *share; /* of the client's address; NULL for a trusted proxy's own requests */
	bool in_flight;           /* the share counts this request: it came through a trusted proxy */
	const char *target;       /* as received; decoded in place later */
	size_t target_size;       /* before decoding */
	const char *target_wrong; /* or NULL */
	bool begun;               /* the header was parsed */
	bool ends_connection;     /* the connection is closed after this request */
	enum http_budget budget;  /* of the request's body, and then of the answer */
	size_t budget_bytes;      /* counted for it in the budget and in the share */
	size_t received;          /* bytes of the body, until it was refused */
	int64_t body_since;
	bool counted; /* in `unsent` */
	bool later;   /* http_answer_now gives the answer */
	struct http_answer answer;
	struct http_stream *stream; /* that is sent; the answer's reference */
	bool stream_is_finite;
	struct http_pending *next_stream, *previous_stream;
};

/* The time that a header, or a body or an answer of so many bytes, may take. */
int64_t httpd_time_for(const struct httpd *server, size_t bytes);
/* Counts the bytes in pending->budget. A client may use at most half of a budget. */
bool httpd_budget_take(struct http_pending *pending, size_t bytes);
/* Frees the request's body, and returns what is counted for it or for the answer. */
void httpd_body_release(struct http_pending *pending);
/* Fills the answer to a request that the server itself refuses. */
void httpd_refusal_fill(const struct httpd *server, int status, const char *why, struct http_answer *answer);
/* Sends an answer and takes its body or stream. Frees the request's body. */
enum MHD_Result httpd_answer_send(struct http_pending *pending, struct http_answer *answer);
/* The request of a stream ends. */
void httpd_stream_end(struct http_pending *pending);
/* Closes all streams, and those that begin later. No request is handled any more. */
void httpd_streams_close(struct httpd *server);

#endif
