/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ROUTES_H
#define SCHEDULER_API_ROUTES_H

/*
 * The table of endpoints (routes.def) and the search in it. A pattern is a path whose segments that begin with a
 * colon stand for one non-empty segment of at most 127 printable ASCII characters.
 */

#include "common/base.h"
#include "proto/limits.h"
#include "scheduler/auth/actor.h"

struct request;
struct response;

/* Returns 0 with the response filled, or -1 with *err filled. */
typedef int (*handler_fn)(struct request *req, struct response *res, struct err *err);

enum body_kind {
	NO_BODY,       /* one that is sent is not looked at */
	JSON,          /* parsed for the handler; an empty one is none */
	JSON_ASIDE,    /* the same; the handler may wait for somebody else's server (api/aside.h) */
	JSON_TOGETHER, /* the same; what the handler makes of it is done together with others (api/together.h) */
	RAW,           /* bytes as they are */
	UPLOADED,      /* the same; what the handler makes of it is kept together with others (api/together.h) */
	UPLOADED_JSON, /* the same; they are read as JSON, so that a large one would keep the others waiting */
	REPORTED,      /* the same; what the handler makes of it is taken in together with others */
	FORM,          /* of a browser: its fields become an object of texts */
	FORM_ASIDE,    /* the same; the handler takes its time */
};

enum {
	BODY_NONE = 0,
	BODY_FORM = 16 << 10,
	BODY_LEASE = 64 << 10,
	BODY_SMALL = 1 << 20,
	BODY_POLICIES = 16 << 20,
	BODY_CALLBACK = 32 << 20,
	BODY_STATE = MAX_STATE_BYTES,
	BODY_ARCHIVE = 512 << 20
};

struct route {
	const char *method;
	const char *pattern;
	handler_fn handler;
	enum permission permission;
	enum body_kind kind;
	size_t limit; /* the most bytes of a body */
};

extern const struct route routes[];
extern const size_t routes_count;

enum { ROUTE_PARAMS = 4 };

struct route_match {
	struct {
		const char *name; /* in the pattern, without its colon; not terminated */
		size_t name_len;
		char value[128];
	} params[ROUTE_PARAMS];
	size_t count;
};

/* Whether the path fits the row's pattern, a slash at its end aside. */
bool route_fits(const struct route *route, const char *path, struct route_match *ret_match);
/* The first row that fits, or NULL. HEAD is answered as GET. ret_match may be NULL. */
const struct route *route_find(
	const struct route *table, size_t count, const char *method, const char *path, struct route_match *ret_match);

#endif
