/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_HTTP_TRANSPORT_H
#define POLICY_IMPORTS_HTTP_TRANSPORT_H

/*
 * The interface through which the import `http` sends requests. The evaluator can't connect to anything itself. The
 * program gives it a transport if requests are allowed (policy/http).
 */

#include "common/buf.h"

enum {
	MAX_HTTP_BODY = 8 << 20,     /* of a request, and of an answer */
	MAX_HTTP_HEADERS = 64 << 10, /* likewise */
	MAX_HTTP_URL = 8 << 10,
};

struct http_header {
	const char *name, *value; /* without line ends */
};

/* Borrowed. */
struct http_request {
	const char *method; /* "GET" */
	const char *url;
	const struct http_header *headers;
	size_t header_count;
	struct bytes body;    /* data NULL: none */
	int64_t timeout_ms;   /* of the whole request, redirects included; above 0 */
	bool any_certificate; /* certificates are not verified */
};

struct http_answer {
	int status;         /* 0: there is no answer */
	char error[512];    /* why; without what only the policy knows: paths, headers, bodies */
	bool transient;     /* another attempt may be answered */
	struct buf headers; /* lines "Name: value\n"; owned */
	struct buf body;    /* owned */
};

struct http_transport {
	/* Sends the request and waits for its answer. *ret_answer is zeroed; release with http_answer_release. */
	void (*send)(const struct http_transport *transport, const struct http_request *request,
		struct http_answer *ret_answer);
};

void http_answer_release(struct http_answer *answer);

/* The length of the URL's beginning up to its path: "https://example.com:8443". */
size_t http_origin_len(const char *url);
/* The length of what messages show of the URL: of its origin, at most 256. */
int http_shown_len(const char *url);
/* True if the URL has a user name or a password. */
bool http_url_has_user(const char *url);

#endif
