/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_GUARD_H
#define COMMON_HTTP_GUARD_H

/*
 * Prevents requests to URLs of users from reaching services that only this machine or its network can reach (SSRF).
 * The guard decides whether a request may be sent to an address.
 *
 * All addresses that are not public are refused, unless the operator's allow-list permits them: loopback, link-local
 * with the clouds' metadata, private, carrier-grade NAT, multicast, reserved. IPv4 embedded in IPv6 is treated as
 * IPv4.
 */

#include "common/base.h"

struct err;
struct guard;
struct sockaddr;

/* ---- ranges ---- */

/* A range of addresses, at one port or at all ports. */
struct address_range {
	unsigned char address[16]; /* IPv4 as ::ffff:0:0/96 */
	int bits;                  /* of the prefix: 0 to 128 */
	int port;                  /* 0: every port */
};

/* Parses ADDRESS[/PREFIX][:PORT]. An IPv6 address with a port is in brackets: [ADDRESS][/PREFIX]:PORT. -1 if the
 * text is neither. */
int address_range_parse(const char *text, struct address_range *ret_range);
/* `address` is 16 bytes, IPv4 as ::ffff:0:0/96. */
bool address_range_has(const struct address_range *range, const unsigned char address[16], int port);

/* ---- the guard ---- */

/* Parses an allow-list with entries separated by commas: ranges (address_range_parse) and HOST[:PORT], where
 * ".example.com" permits every subdomain. An entry without a port permits all ports. "" permits nothing more. -1
 * with ERR_INVALID that names the entry. */
int guard_parse(const char *allow, struct guard **ret_guard, struct err *err);
void guard_free(struct guard *guard);

struct guard_verdict {
	const char *refusal; /* why the address is refused ("a loopback address"), or NULL if it is permitted */
	bool listed;         /* only the allow-list permits the address */
};

/* `host` is the name that was resolved to the address, which an entry of the allow-list may name; or NULL. */
struct guard_verdict guard_judge(const struct guard *guard, const char *host, const struct sockaddr *address);

struct guard_target {
	const char *host;    /* as above */
	const char *address; /* as text; if it is not an address, only the host is judged */
	int port;
};
struct guard_verdict guard_judge_text(const struct guard *guard, const struct guard_target *target);

/* True for an IPv4 or IPv6 address as text. */
bool guard_is_address(const char *text);
/* True if an entry of the allow-list without a port contains the address. */
bool guard_allows(const struct guard *guard, const char *address);
/* True if an entry of the allow-list names a port. */
bool guard_names_ports(const struct guard *guard);

/* One guarded request. The owner keeps it while the request runs. */
struct guarded {
	const struct guard *guard;
	bool proxied; /* set by the owner: connections go to the operator's proxy, so only the URL is checked */
	/* Set by the owner: the URL's host must be on the allow-list. An address that is not public must be in a range
	 * of the list: the host's name does not permit it. */
	bool listed_only;
	bool mail; /* set by the owner: smtp and smtps in place of http and https */
	void (*goes_out)(
		void *data); /* set by the owner, or NULL: the connection is open and the request is sent now */
	void *data;
	char host[256];
	bool let_through; /* an address was permitted, so a later failure is not reported as a refusal */
	bool listed;      /* only the allow-list permits the destination: its answer must not be shown to users */
	char why[384];    /* after a refusal: the reason, for users */
};

/* Guards a libcurl handle: only http and https, or those of mail, are permitted. Each address is checked before
 * connecting, and again before a request is sent over a reused connection. -1 with ERR_INVALID if the URL itself is
 * refused. */
int guard_curl(void *easy, const char *url, struct guarded *guarded, struct err *err);

#endif
