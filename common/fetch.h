/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_FETCH_H
#define COMMON_FETCH_H

/* HTTP requests from an epoll loop: libcurl's multi interface driven by curl_multi_socket_action. */

#include "common/buf.h"

struct err;
struct loop;
struct fetcher;

struct fetch_request {
	const char *method; /* "PUT" */
	const char *url;
	const char *bearer;       /* or NULL */
	const char *content_type; /* of the body; NULL: none */
	const void *body;         /* copied; NULL: none */
	size_t body_len;
	size_t answer_limit; /* the most bytes of an answer; 0: 1 MiB */
	long timeout_ms;     /* 0: 60 s */
};

struct fetch_answer {
	int status;        /* 0: nothing came */
	struct buf body;   /* taken back by the fetcher after the callback, unless buf_take empties it */
	const char *error; /* why nothing came, or NULL */
	int retry_after;   /* seconds, or 0 */
};

typedef void (*fetch_fn)(void *data, struct fetch_answer *answer);

struct fetcher *fetcher_new(struct loop *loop);
void fetcher_free(struct fetcher *fetcher);
/* Starts the request; fn is called once, from the loop, never from within this call. Returns a handle. */
struct fetch *fetch_start(struct fetcher *fetcher, const struct fetch_request *request, fetch_fn fn, void *data);
/* Ends it without its callback. */
void fetch_abort(struct fetch *fetch);

#endif
