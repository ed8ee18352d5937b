/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_GUARD_H
#define COMMON_GUARD_H

/*
 * Requests to addresses that a user may choose must not reach what only this machine or its network can reach. The
 * guard says of an address whether a request may go there: everything that is not public is refused (loopback,
 * link-local with the clouds' metadata, private, carrier-grade NAT, multicast, reserved), whatever form it is written
 * in (IPv4 inside IPv6 counts as IPv4), unless the operator's allow-list names it.
 */

#include "common/base.h"

struct err;
struct guard;
struct sockaddr;

/* Reads an allow-list: addresses, CIDR ranges and host names (".example.com" for all below it), comma separated;
 * "" allows nothing more. -1 with ERR_INVALID that names the entry. */
int guard_parse(const char *allow, struct guard **ret_guard, struct err *err);
void guard_free(struct guard *guard);

/* Why no request may go to the address ("a loopback address"), or NULL if one may. `host` is the name that the address
 * was found by, which may be on the allow-list itself; or NULL. */
const char *guard_refuses(const struct guard *guard, const char *host, const struct sockaddr *address);
/* The same for an address as text; NULL too for a text that is no address. */
const char *guard_refuses_text(const struct guard *guard, const char *host, const char *address);

/* True for an IPv4 or IPv6 address as text. */
bool guard_is_address(const char *text);
/* True if the allow-list itself holds the address. */
bool guard_allows(const struct guard *guard, const char *address);

/* One request under guard. Kept by its owner as long as the request runs. */
struct guarded {
	const struct guard *guard;
	bool proxied; /* set by the owner: connections go to the operator's proxy, only the URL can be checked */
	void (*goes_out)(
		void *data); /* set by the owner, or NULL: the connection is open and the request is sent now */
	void *data;
	char host[256];
	bool let_through; /* an address was allowed: what goes wrong from there on is no refusal */
	char why[384];    /* after a refusal: what it was, for people */
};

/* Puts a libcurl handle under guard: http and https only, each address checked before it is connected to, and again
 * before the request goes out on a connection that was kept. -1 with ERR_INVALID if the URL itself is refused. */
int guard_curl(void *easy, const char *url, struct guarded *guarded, struct err *err);

#endif
