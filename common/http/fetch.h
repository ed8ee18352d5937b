/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_FETCH_H
#define COMMON_HTTP_FETCH_H

/*
 * HTTP requests from an epoll loop: libcurl's multi interface driven by curl_multi_socket_action. Connections are kept
 * and used again. Bodies and answers can be files, so that a large one never stands in memory.
 */

#include "common/buf.h"

struct err;
struct loop;
struct origin;
struct fetcher;
struct fetch;

struct fetch_request {
	const char *method; /* "PUT" */
	const char *url;
	const char *bearer;       /* or NULL */
	const char *content_type; /* of the body; NULL: none */
	const void *body;         /* copied; NULL: none */
	size_t body_len;
	int body_fd;         /* > 0: this file from its start is the body; borrowed until the callback or the abort */
	int answer_fd;       /* > 0: the body of a 200 goes into this file; borrowed likewise */
	size_t answer_limit; /* the most bytes of an answer; 0: 1 MiB */
	long timeout_ms;     /* for the whole of it; 0: 60 s. It ends earlier if nothing moves for 30 s. */
	bool redirects;      /* follows up to five, from https to https alone */
	bool introduces;     /* the caller checks that a scheduler made the answer (origin_accepts_first) */
};

struct fetch_answer {
	int status;        /* 0: nothing came, or not all of it */
	struct buf body;   /* taken back by the fetcher after the callback, unless buf_take empties it */
	const char *error; /* why the status is 0, or NULL */
	int retry_after;   /* seconds, or 0 */
	bool too_large;    /* status 0 because the answer passed its limit */
	bool foreign;      /* status 0 because a proxy answered in the scheduler's place; `error` has its status */
	unsigned long long accepted; /* answers of the scheduler that this fetcher has had */
	int file_error; /* status 0 because body_fd can't be read or answer_fd can't be written: errno; else 0 */
};

typedef void (*fetch_fn)(void *data, struct fetch_answer *answer);

/* Certificates are checked by the CAs of this PEM file from now on, and for jobs too: it goes into the environment as
 * SSL_CERT_FILE, which Go and OpenSSL know. "" leaves what the environment says, or the system's CAs. To be called
 * before there are threads. ERR_INVALID if the file can't be read. */
int fetch_trust(const char *ca_file, struct err *err);
/* The file that is trusted instead of the system's CAs, or NULL. */
const char *fetch_trusted(void);

struct fetcher *fetcher_new(struct loop *loop);
/* From now on every request of this fetcher goes to the scheduler. The answer of anything else (common/http/origin.h)
 * has the status 0. Borrowed. */
void fetcher_expect(struct fetcher *fetcher, struct origin *origin);
/* Ends what runs without its callback. */
void fetcher_free(struct fetcher *fetcher);
/* Starts the request; fn is called once, from the loop, never from within this call. Returns a handle that is valid
 * until fn is called. */
struct fetch *fetch_start(struct fetcher *fetcher, const struct fetch_request *request, fetch_fn fn, void *data);
/* Ends it without its callback. NULL-safe. */
void fetch_abort(struct fetch *fetch);

#endif
