/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_GUARD_H
#define COMMON_HTTP_GUARD_H

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

/* ---- one entry of a list ---- */

/* A range of addresses, at one port or at all. */
struct address_range {
	unsigned char address[16]; /* IPv4 as ::ffff:0:0/96 */
	int bits;                  /* of the prefix: 0 to 128 */
	int port;                  /* 0: every port */
};

/* Reads ADDRESS[/PREFIX][:PORT]; an IPv6 address with a port stands in brackets: [ADDRESS][/PREFIX]:PORT. -1 if the
 * text is neither. */
int address_range_parse(const char *text, struct address_range *ret_range);
/* `address` is 16 bytes, IPv4 as ::ffff:0:0/96. */
bool address_range_has(const struct address_range *range, const unsigned char address[16], int port);

/* ---- the guard ---- */

/* Reads an allow-list, separated by commas: entries as address_range_parse reads them, and HOST[:PORT] (".example.com"
 * for every name below it). An entry without a port names all ports. "" allows nothing more. -1 with ERR_INVALID that
 * names the entry. */
int guard_parse(const char *allow, struct guard **ret_guard, struct err *err);
void guard_free(struct guard *guard);

struct guard_verdict {
	const char *refusal; /* why no request may go there ("a loopback address"), or NULL if one may */
	bool listed;         /* the allow-list names it: only the operator's word lets requests go there */
};

/* `host` is the name that the address was found by, which may be on the allow-list itself; or NULL. */
struct guard_verdict guard_judge(const struct guard *guard, const char *host, const struct sockaddr *address);

struct guard_target {
	const char *host;    /* as above */
	const char *address; /* as text; of a text that is no address, only the host is judged */
	int port;
};
struct guard_verdict guard_judge_text(const struct guard *guard, const struct guard_target *target);

/* True for an IPv4 or IPv6 address as text. */
bool guard_is_address(const char *text);
/* True if an entry of the allow-list without a port holds the address. */
bool guard_allows(const struct guard *guard, const char *address);
/* True if an entry of the allow-list names a port. */
bool guard_names_ports(const struct guard *guard);

/* One request under guard. Kept by its owner as long as the request runs. */
struct guarded {
	const struct guard *guard;
	bool proxied; /* set by the owner: connections go to the operator's proxy, only the URL can be checked */
	void (*goes_out)(
		void *data); /* set by the owner, or NULL: the connection is open and the request is sent now */
	void *data;
	char host[256];
	bool let_through; /* an address was allowed: what goes wrong from there on is no refusal */
	bool listed;      /* the allow-list names where the request went: its answer is not shown to users */
	char why[384];    /* after a refusal: what it was, for people */
};

/* Puts a libcurl handle under guard: http and https only, each address checked before it is connected to, and again
 * before the request goes out on a connection that was kept. -1 with ERR_INVALID if the URL itself is refused. */
int guard_curl(void *easy, const char *url, struct guarded *guarded, struct err *err);

#endif
