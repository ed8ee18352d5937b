/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_UPSTREAM_H
#define WORKER_GIT_UPSTREAM_H

/*
 * The operator's HTTP proxy between the worker and the servers of repositories. Connections are made through it with
 * CONNECT (RFC 9110). It is used for https and http, except for hosts of NO_PROXY and the loopback. Pure.
 */

#include "worker/git/records.h"
#include "worker/git/remote.h"

/* The order's records (proxy_settings.h). The first two are "HOST PORT LOGIN", where LOGIN is that of
 * `Proxy-Authorization: Basic` and may be empty. */
#define UPSTREAM_HTTPS    "https-proxy"
#define UPSTREAM_HTTP     "http-proxy"
#define UPSTREAM_NONE     "no-proxy"
#define UPSTREAM_UNUSABLE "-" /* the setting is not an http:// URL */

enum { UPSTREAM_HOST_MAX = 256 };

struct upstream {
	char host[UPSTREAM_HOST_MAX]; /* "": not set */
	int port;                     /* 0: unusable */
	const char *login;            /* borrowed from the order */
};

struct upstreams {
	struct upstream https, http;
	const char *no_proxy; /* borrowed from the order */
};

struct upstreams upstreams_read(struct bytes order);
/* The proxy for a server, or NULL. `host`: in lower case, without brackets. */
const struct upstream *upstream_for(
	const struct upstreams *upstreams, enum remote_scheme scheme, const char *host, int port);
/* The CONNECT request. The caller frees it; it may have a password. */
char *upstream_request(const struct upstream *upstream, const char *host, int port);
/* Returns the status of an answer, and the length of its header in *ret_len. 0: the header is not complete. -1: the
 * answer is not HTTP. */
int upstream_status(const char *answer, size_t *ret_len);

#endif
