/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_FETCH_H
#define COMMON_HTTP_FETCH_H

/*
 * HTTP requests from an epoll loop: libcurl's multi interface driven by curl_multi_socket_action. Connections are
 * reused. Bodies of requests and answers can be files, so that large ones are never in memory as a whole.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct err;
struct guard;
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
	int body_fd;         /* > 0: the file with the body, from its start; borrowed until the callback or the abort */
	int answer_fd;       /* > 0: the file for the body of a 200; borrowed likewise */
	size_t answer_limit; /* the most bytes of an answer; 0: 1 MiB */
	long timeout_ms;     /* for the whole request; 0: 60 s. It fails earlier if no data is transferred for 30 s */
	bool redirects;      /* follows up to five; from https only to https */
	bool introduces;     /* the caller checks that a scheduler made the answer (origin_accepts_first) */
	/* For a request to a URL of a user: no proxy of the environment is used, and a slow server may be silent until
	 * timeout_ms is over. Members that are not set have no effect. */
	const struct guard *guard; /* common/http/guard.h; borrowed until the callback or the abort */
	const json_t *headers;     /* "Name: value" each, in place of those of this module; "Name;": without a value */
	long connect_ms;           /* for the connection; 0: 10 s */
};

struct fetch_answer {
	int status;        /* 0: no complete answer */
	struct buf body;   /* the fetcher frees it after the callback, unless buf_take empties it */
	const char *error; /* why the status is 0, or NULL */
	int retry_after;   /* seconds, or 0 */
	bool too_large;    /* status 0 because the answer exceeded its limit */
	bool foreign;      /* status 0 because a proxy answered in the scheduler's place; `error` has its status */
	unsigned long long accepted; /* how many answers of the scheduler this fetcher has accepted */
	int file_error;              /* status 0 because reading body_fd or writing answer_fd failed: errno; else 0 */
	/* Of a guarded request: */
	bool forbidden;  /* status 0 because the guard refuses the URL or the address */
	bool listed;     /* only the guard's allow-list permits the address */
	int cut_status;  /* the status of an answer that was too large */
	json_t *headers; /* {"name": ["value"]}; freed after the callback */
};

typedef void (*fetch_fn)(void *data, struct fetch_answer *answer);

/* Sets the PEM file of the CAs that certificates are checked with, here and in jobs: it is put into the environment
 * as SSL_CERT_FILE, which Go and OpenSSL read. "" keeps the environment's setting, or the system's CAs. Must be
 * called before there are threads. ERR_INVALID if the file can't be read. */
int fetch_trust(const char *ca_file, struct err *err);
/* The file with the CAs that replace the system's, or NULL. */
const char *fetch_trusted(void);

struct fetcher *fetcher_new(struct loop *loop);
/* Declares that all requests of this fetcher go to the scheduler. Answers of other servers (common/http/origin.h) have
 * the status 0. Borrowed. */
void fetcher_expect(struct fetcher *fetcher, struct origin *origin);
/* Aborts the running requests without their callbacks. */
void fetcher_free(struct fetcher *fetcher);
/* Starts the request. Calls fn once, from the loop, never from within this call. Returns a handle that is valid
 * until fn is called. */
struct fetch *fetch_start(struct fetcher *fetcher, const struct fetch_request *request, fetch_fn fn, void *data);
/* Aborts the request without its callback. NULL-safe. */
void fetch_abort(struct fetch *fetch);

/* The URL without the parts that may be secret, for logs and messages: user, password, query and fragment, and the path
 * if that is secret too. The caller frees it. */
char *fetch_shown(const char *url, bool secret_path);

#endif
