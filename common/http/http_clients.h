/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_HTTP_CLIENTS_H
#define COMMON_HTTP_HTTP_CLIENTS_H

/*
 * The open connections of an HTTP server, and the limits of each client. A client is an address (an IPv6 /64
 * network), and its number of connections is limited. Connections of a trusted proxy are not counted. Instead, each
 * request through a proxy counts while it is in flight, for the address that the proxy forwards for.
 *
 * A connection that passes its deadline is shut down. When all connections are in use, a new one displaces idle
 * ones, then those whose header is incomplete. Shutting down makes the server's library close the connection. Any
 * thread may call these functions. Times are milliseconds of one monotonic clock.
 */

#include "common/base.h"

enum { HTTP_ADDRESS_SIZE = 64 };

enum http_phase {
	HTTP_IDLE,   /* between requests */
	HTTP_HEAD,   /* receives a header, at first with the TLS handshake */
	HTTP_BODY,   /* receives a body */
	HTTP_ANSWER, /* the request is handled, or its answer is sent */
};

/* The key by which a client's limits are counted: the /64 network of an IPv6 address, otherwise the address itself. */
void http_address_key(const char *address, char ret_key[HTTP_ADDRESS_SIZE]);

/* Bytes of a body that are read before its request is admitted. */
enum { HTTP_BODY_UNKNOWN = 64 << 10 };
/* Bytes of an answer that are not counted. Answers to others than GET are not counted at all: what such a request did
 * can't be undone any more. */
enum { HTTP_ANSWER_SMALL = 1 << 20 };

/* The memory for bodies and for large answers has a budget per kind, so that no kind can starve another. */
enum http_budget {
	HTTP_BUDGET_SMALL,   /* bodies of up to HTTP_BODY_UNKNOWN bytes, and those that are not admitted yet */
	HTTP_BUDGET_CLIENTS, /* of requests with a token */
	HTTP_BUDGET_LINKS,   /* of requests with a signed path */
	HTTP_BUDGET_HOOKS,   /* of webhooks, which are proven by the whole body */
	HTTP_BUDGET_JOBS,    /* of requests with a job's token, and of the large answers to them */
	HTTP_BUDGET_ANSWERS, /* of other answers of more than HTTP_ANSWER_SMALL bytes, until they are sent */
	HTTP_BUDGETS
};

#define HTTP_NO_DEADLINE INT64_MAX

struct http_clients;
struct http_client; /* one connection */
struct http_share;  /* what one address uses */

struct http_clients_limits {
	size_t connections; /* in all */
	size_t per_address; /* of one address: connections, or requests in flight behind proxies; 0: any number */
};

struct http_clients *http_clients_new(struct http_clients_limits limits);
/* All connections must be closed. NULL-safe. */
void http_clients_free(struct http_clients *clients);

enum http_refusal {
	HTTP_ADMITTED,
	HTTP_ADDRESS_FULL, /* the address has its limit of connections */
	HTTP_ALL_FULL,     /* all connections are in use */
};
/* Whether a new connection from the address may be opened. May shut down other connections for it. */
enum http_refusal http_clients_admit(struct http_clients *clients, const char *address, bool is_proxy, int64_t now);
struct http_peer {
	int fd; /* the socket, borrowed until http_client_close */
	const char *address;
	bool is_proxy;
};
/* Starts in the phase HTTP_HEAD. */
struct http_client *http_client_open(
	struct http_clients *clients, struct http_peer peer, int64_t now, int64_t deadline);
/* Must be called before the socket is closed. */
void http_client_close(struct http_clients *clients, struct http_client *client);
/* Its answer is a stream: the connection is no longer counted, also not for its address. */
void http_client_stream(struct http_clients *clients, struct http_client *client);
const char *http_client_address(const struct http_client *client);
/* The share of the connection's address; NULL for a proxy. Lives as long as the connection. */
struct http_share *http_client_share(const struct http_client *client);
void http_client_phase(struct http_client *client, enum http_phase phase, int64_t now, int64_t deadline);
void http_client_deadline(struct http_client *client, int64_t deadline);

/* Counts a request in flight for an address behind a proxy. NULL if the address has too many. Release with
 * http_share_leave. */
struct http_share *http_share_enter(struct http_clients *clients, const char *address);
void http_share_leave(struct http_clients *clients, struct http_share *share);
/* Counts bytes of bodies for the address. False, without counting them, if that budget would exceed `max`. A NULL
 * share has no limit. */
bool http_share_take(struct http_share *share, enum http_budget budget, size_t bytes, size_t max);
void http_share_return(struct http_share *share, enum http_budget budget, size_t bytes);

/* Shuts down the connections whose deadline has passed. */
void http_clients_expire(struct http_clients *clients, int64_t now);

#endif
