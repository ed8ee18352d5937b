/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_NETWORK_FACTS_H
#define WORKER_NETWORK_FACTS_H

#include "worker/network/plan.h"

/* Reads the machine's interfaces, routes and resolv.conf, and resolves the hosts of the URLs (or HOST:PORT) that
 * jobs need. Blocks on DNS: call it in a thread. Skips names that can't be resolved and files that can't be read. */
void network_facts_read(const struct texts *urls, struct network_facts *ret_facts);

#endif
