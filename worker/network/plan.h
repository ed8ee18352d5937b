/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_NETWORK_PLAN_H
#define WORKER_NETWORK_PLAN_H

/*
 * Decides which addresses a job's isolated network reaches. Pure: it computes routing rules and pasta's arguments from
 * the operator's lists and the facts about the machine.
 *
 *  1. The loopback of the worker's machine, the addresses of its interfaces, link-local and metadata addresses, and
 *     multicast are denied. So are the ranges of --job-network-deny. Everything else is reachable.
 *  2. --job-network-allow makes exceptions. The entry with the longer prefix decides, then the one with a port.
 *     Between equals, allow wins.
 *  3. The needed endpoints (resolvers, API, provider mirror, proxies) are reachable, each only at its port.
 *  4. Inside the network, 127.0.0.1 and ::1 are the job's own. An allowed or needed port of the machine's loopback is
 *     forwarded to both addresses, only for TCP.
 */

#include "common/http/guard.h"
#include "worker/engine/variables.h"
#include "worker/network/holder.h"

struct buf;
struct err;

enum { NETWORK_PORTS_MAX = 64 };

/* The operator's two lists. */
struct network_lists {
	struct address_range *allow, *deny; /* owned */
	size_t allow_count, deny_count;
};

/* Both are lists of ADDRESS[/PREFIX][:PORT], separated by commas. ERR_INVALID names the option and the entry. */
int network_lists_parse(const char *allow, const char *deny, struct network_lists *ret_lists, struct err *err);
void network_lists_release(struct network_lists *lists);

struct network_endpoint {
	unsigned char address[16]; /* IPv4 as ::ffff:0:0/96 */
	int port;
};

/* The state of the machine that a plan depends on. */
struct network_facts {
	struct network_endpoint *own; /* addresses of its interfaces, without the loopback; port 0; owned */
	size_t own_count;
	struct network_endpoint *needed; /* endpoints that every job must reach; owned */
	size_t needed_count;
	bool ipv4, ipv6; /* there is a default route */
	char *resolv;    /* the text of resolv.conf; owned; or NULL */
};

void network_facts_release(struct network_facts *facts);
void network_facts_add_own(struct network_facts *facts, const unsigned char address[16]);
void network_facts_add_needed(struct network_facts *facts, const unsigned char address[16], int port);

/* Plans with equal bytes make equal networks. */
struct network_plan {
	struct holder_request request;
	uint16_t ports[NETWORK_PORTS_MAX]; /* of the machine's loopback, ascending */
	uint32_t port_count;
	bool ipv4, ipv6;           /* families to route */
	bool resolver4, resolver6; /* queries are forwarded to a resolver on the machine's loopback */
};

/* ERR_TOO_LARGE: more rules or ports than a network can have. */
int network_plan_make(const struct network_lists *lists, const struct network_facts *facts,
	struct network_plan *ret_plan, struct err *err);
/* pasta's arguments after its own path. */
void network_plan_arguments(const struct network_plan *plan, struct texts *args);
/* True if a job in this network can connect to the endpoint. An endpoint on the loopback counts if its port is
 * forwarded. */
bool network_plan_reaches(const struct network_plan *plan, const struct network_endpoint *endpoint);

/* Appends the resolv.conf that jobs see. Forwarded resolvers replace those on the loopback. A resolver with a zone
 * (fe80::1%eth0) is left out. -1: over the limit. */
int network_resolv_conf(const char *text, struct buf *out);

#endif
