/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_ROUTES_H
#define SCHEDULER_HTTP_ROUTES_H

/*
 * The table of endpoints (routes.def) and the search in it. A pattern is a path whose segments that begin with a
 * colon stand for one non-empty segment of at most 127 printable ASCII characters.
 */

#include "common/base.h"
#include "proto/limits.h"
#include "scheduler/auth/actor.h"

/* The prefix of the routes for identity providers. Their errors have the form of SCIM. */
#define SCIM_PREFIX "/scim/v2"
/* The prefix of the routes by which engines find modules and providers. */
#define REGISTRY_PREFIX "/api/registry/v1"
/* The prefix of the routes for GPG keys. */
#define REGISTRY_KEYS_PREFIX "/api/registry/private/v2"

struct request;
struct response;

/* Returns 0 with the response filled, or -1 with *err filled. */
typedef int (*handler_fn)(struct request *req, struct response *res, struct err *err);

enum body_format {
	NO_BODY, /* a body that is sent is ignored */
	JSON,    /* parsed for the handler; an empty body gives NULL */
	RAW,     /* the bytes as they were sent */
	FORM,    /* sent by a browser; the fields become an object of texts */
};

/* The thread that handles a request, and the transaction that commits its changes. The order counts: route_blocks is
 * true from BLOCKING_CALL on, route_is_batched from BATCH_RUNS on. */
enum executor {
	INLINE,            /* a thread of the HTTP server */
	BLOCKING_LOOKUP,   /* BLOCKING_CALL for a body with "vcs-repo" (api/vcs/lookup.h); INLINE for any other */
	BLOCKING_CALL,     /* a slow thread of http/request_batcher.h: the handler blocks on a remote server */
	BLOCKING_PASSWORD, /* one of another queue: the handler verifies a password, which is slow by design */
	BLOCKING_DOCUMENT, /* one of another queue: the handler may read a document of many megabytes */
	/* A thread of the HTTP server runs the handler. The changes of several requests are committed in one
	 * transaction (http/batch.h). */
	BATCH_RUNS,
	BATCH_UPLOADS,
	BATCH_RESULTS,
	BATCH_DELIVERIES,
	EXECUTOR_COUNT
};

enum {
	BODY_NONE = 0,
	BODY_FORM = 16 << 10,
	BODY_LEASE = 64 << 10,
	BODY_SAML = 512 << 10, /* an XML document of 256 KiB in base64, percent-encoded */
	BODY_SMALL = 1 << 20,
	BODY_POLICIES = 16 << 20,
	BODY_WEBHOOK = 25 << 20,
	BODY_CALLBACK = 32 << 20,
	BODY_MODULE = 100 << 20,
	BODY_STATE = MAX_STATE_BYTES,
	BODY_ARCHIVE = 512 << 20
};

struct route {
	const char *method;
	const char *pattern;
	handler_fn handler;
	enum permission permission;
	enum body_format format;
	size_t limit; /* of a body, in bytes */
	enum executor executor;
};

/* True if the handler prepares an item of a batch and does not answer. */
bool route_is_batched(const struct route *route);
/* True if the handler may block, so it makes its own transactions. */
bool route_blocks(const struct route *route);

extern const struct route routes[];
extern const size_t routes_count;

enum { ROUTE_PARAMS = 8 };

struct route_match {
	struct {
		const char *name; /* in the pattern, without its colon; not terminated */
		size_t name_len;
		char value[128];
	} params[ROUTE_PARAMS];
	size_t count;
};

/* Whether the path matches the row's pattern. A slash at the path's end is ignored. */
bool route_fits(const struct route *route, const char *path, struct route_match *ret_match);
/* The first row that matches, or NULL. HEAD matches the rows of GET. ret_match may be NULL. */
const struct route *route_find(
	const struct route *table, size_t count, const char *method, const char *path, struct route_match *ret_match);

#endif
