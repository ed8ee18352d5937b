/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_NETWORK_HOLDER_H
#define WORKER_NETWORK_HOLDER_H

/*
 * runyard-network makes one isolated network. It makes a user namespace that maps the worker's user to itself, and a
 * network namespace that this one owns. It adds routing rules, and starts pasta to connect the namespace.
 *
 *  1. The rules are in place before the namespace has an interface.
 *  2. A job gets a user namespace below this one (bwrap), so it has no capability over the network namespace. It can't
 *     change a rule, a route, an address or the firewall.
 *  3. The holder ends when pasta ends. It kills pasta and ends when the worker closes its end of the socket.
 *  4. If the holder is killed, its parent (the keeper, or the worker as the next subreaper) kills the remaining
 * processes.
 *
 * Called as `runyard-network PROGRAM pasta ARGUMENT...` with HOLDER_FD a SOCK_SEQPACKET socket. The first datagram
 * there is a struct holder_request. The holder answers once with a struct holder_answer. An answer without an error
 * carries two descriptors (SCM_RIGHTS): the user namespace and the network namespace.
 */

#include <stdbool.h>
#include <stdint.h>

enum { HOLDER_FD = 3, HOLDER_RULES_MAX = 512 };

/* One routing rule. The first rule whose range and port fit a destination decides. */
struct holder_rule {
	unsigned char address[16]; /* IPv4 as ::ffff:0:0/96 */
	uint8_t bits;              /* of the 128: 96 and more for IPv4 */
	bool allow;                /* route it; false: refuse it (EACCES) */
	uint16_t port;             /* of TCP and UDP; 0: every port and protocol */
};

struct holder_request {
	uint32_t count;
	struct holder_rule rules[HOLDER_RULES_MAX];
};

struct holder_answer {
	char error[256]; /* what failed and why; "" if the network is ready */
};

#endif
