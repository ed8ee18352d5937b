/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_HELPER_PROXY_H
#define WORKER_GIT_HELPER_PROXY_H

/*
 * A SOCKS5 proxy for the git of one job (RFC 1928, CONNECT without authentication). It connects to listed hosts at
 * their port only. It resolves a name itself and judges the address that it then connects to, so a name that
 * changes between two lookups leads nowhere else. For a host with an upstream (upstream.h), it connects to the upstream
 * and judges the host only if it is an address.
 */

#include <poll.h>

#include "common/base.h"

struct guard;
struct proxy;
struct upstream;

enum { PROXY_CONNECTIONS = 24, PROXY_HOSTS = 64, PROXY_FDS = 1 + 2 * PROXY_CONNECTIONS, PROXY_WHY_MAX = 700 };

struct proxy_result {
	bool exceeded;               /* more bytes came than may */
	char refused[PROXY_WHY_MAX]; /* the last address that was refused, as a sentence; "": none */
	char failed[PROXY_WHY_MAX];  /* the last connection that could not be made */
};

/* Borrows the guard. `max_bytes`: from all servers together; 0: no limit. */
struct proxy *proxy_new(const struct guard *guard, long long max_bytes);
void proxy_free(struct proxy *proxy);
/* Takes the listening socket. */
void proxy_listen(struct proxy *proxy, int fd);
/* Permits a host, directly or through the upstream, which is borrowed (NULL: none). False if there are too many. */
bool proxy_permit(struct proxy *proxy, const char *name, int port, const struct upstream *upstream);
/* Fills the descriptors to poll, and returns their number. */
size_t proxy_poll(struct proxy *proxy, struct pollfd fds[PROXY_FDS]);
/* Handles what poll has returned in them. */
void proxy_polled(struct proxy *proxy, const struct pollfd fds[PROXY_FDS]);
const struct proxy_result *proxy_result(const struct proxy *proxy);

#endif
