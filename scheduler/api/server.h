/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_H
#define SCHEDULER_API_SERVER_H

/* The scheduler's HTTP service: threads, each with a connection to PostgreSQL of its own, that answer routes.def. */

#include "scheduler/store/store.h"

struct api_settings {
	const char *address;         /* "127.0.0.1:8080"; port 0 binds a free one */
	const char *metrics_address; /* of a listener for operators alone; "": `address` serves /metrics too */
	bool tls;                    /* with the certificate that was loaded (common/certificate.h) */
	long long rate_limit;        /* requests a second for each token; 0: any number */
	const struct guard *proxies; /* whose X-Forwarded-For is believed */
	int connections;             /* at most */
	int connections_per_address; /* 0: any number */
	int request_seconds;         /* --request-seconds */
	size_t body_memory;          /* bytes, for each kind of large body */
	int threads;
	const char *database_url;
	struct store
		store; /* as each thread's own, but for the connection; public_url NULL or "": http(s)://<address> */
};

struct api;

/* Borrows everything the settings point to until api_stop. */
int api_start(const struct api_settings *settings, struct api **ret_api, struct err *err);
/* The port that is bound. */
int api_port(const struct api *api);
/* The address that clients are given, without a slash at its end. Borrowed until api_stop. */
const char *api_public_url(const struct api *api);
/* Takes no new connections, lets the running requests finish. NULL-safe. */
void api_stop(struct api *api);

#endif
