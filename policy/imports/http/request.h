/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_HTTP_REQUEST_H
#define POLICY_IMPORTS_HTTP_REQUEST_H

/*
 * The requests of the import `http`, as values of the language: maps of methods, whose data is the request. A method
 * that sets something gives a new request. The map has no headers, password or body, so prints and traces do not show
 * them.
 */

#include "policy/imports/http/transport.h"
#include "policy/values/value.h"

struct request {
	const char *method; /* NULL: POST if there is a body, else GET */
	const char *url;
	const struct http_header *headers; /* names are unique */
	size_t header_count;
	struct bytes body; /* data NULL: none */
};

extern const char method_get[], method_post[];

/* Fails if the text can be no URL. */
const struct request *request_of_url(struct run *run, struct value text);
struct value request_value(struct run *run, const struct request *request);
/* The argument of a function, from 0: a URL, or a map that request_value gave. */
const struct request *request_argument(struct run *run, const char *function, const struct value *args);

#endif
