/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_SERVER_H
#define SCHEDULER_API_SERVER_SERVER_H

/* The scheduler's HTTP service: a pool of threads, each with its own PostgreSQL connection, that serves routes.def. */

#include "scheduler/store/store.h"

struct claim_waiters;
struct event_hub;
struct listener;
struct objects;
struct publisher;

struct api_settings {
	const char *address;         /* "127.0.0.1:8080"; port 0 binds a free one */
	const char *metrics_address; /* a second listener for operators only; "": `address` serves /metrics too */
	bool tls;                    /* with the loaded certificate (common/http/certificate.h) */
	long long rate_limit;        /* requests per second and token; 0: no limit */
	const struct guard *proxies; /* peers whose X-Forwarded-For is trusted */
	int connections;             /* maximum, without event streams */
	int max_streams;
	int connections_per_address; /* 0: no limit */
	int request_seconds;         /* --request-seconds */
	size_t body_memory;          /* bytes, for each budget of large bodies and answers */
	int threads;
	const char *database_url;
	struct publisher *publisher;
	struct claim_waiters *waiters;
	struct event_hub *events;
	struct listener *vcs_events;
	struct id installation;  /* sent with every response (common/http/origin.h) */
	struct objects *objects; /* the object store for large content, or NULL */
	struct store store;      /* copied for each thread, which opens its own connection; public_url NULL or "":
				    http(s)://<address> */
};

struct api;

/* Borrows all that the settings point to until api_stop. */
int api_start(const struct api_settings *settings, struct api **ret_api, struct err *err);
/* The port of the listening socket. */
int api_port(const struct api *api);
/* The service's public address, without a slash at its end. Borrowed until api_stop. */
const char *api_public_url(const struct api *api);
/* From now on /readyz is 503, so that load balancers choose other schedulers. Requests are still served. */
void api_retire(struct api *api);
/* Accepts no more connections, waits for the running requests and frees the service. NULL-safe. */
void api_stop(struct api *api);

#endif
