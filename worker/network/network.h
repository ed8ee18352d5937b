/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_NETWORK_NETWORK_H
#define WORKER_NETWORK_NETWORK_H

/*
 * The isolated networks of a worker's jobs. plan.h says what a job reaches; holder.h says how the kernel enforces it.
 *
 * A network serves one job at a time, and all commands of that job. Making one costs about 25 ms of processor time and
 * 30 MiB, so it is kept. It serves the organization's next job whose plan is equal (same addresses of the machine).
 * Another organization's job never gets it. Nothing of the earlier job is left in it:
 *
 *  1. A job ends when its last process is gone (exec/child.h), so its sockets, listeners and abstract socket names are
 *     gone too.
 *  2. No job has a capability over the network namespace (holder.h, rule 2), so no route, rule, address, firewall
 *     table, interface or sysctl has changed.
 *
 * Rule 2 needs a worker that is not root, as every worker is (account.h): root's jobs could write the namespace's
 * sysctls.
 *
 * A network whose pasta ended is never used again.
 */

#include <stddef.h>

#include "worker/network/plan.h"

struct err;
struct loop;
struct networks;
struct network_use;

struct networks_spec {
	struct loop *loop;
	const struct network_lists *lists; /* borrowed */
	const struct texts *urls;          /* what every job has to reach; copied */
	size_t keep;                       /* unused networks that are kept at most */
	int64_t grace_ms;                  /* how long one outlives the worker for an apply that is being stopped */
};

/* Makes one network and ends it, which takes a few hundredths of a second. ERR_INVALID with what to do if the machine
 * can't have one. */
int networks_open(const struct networks_spec *spec, struct networks **ret_networks, struct err *err);
/* Ends all networks and waits for it. No use may be left. NULL is fine. */
void networks_free(struct networks *networks);

/* Starts to get a network for one job or one command of the worker's own. `owner`: the organization, or "" for the
 * worker. `url`: one more that has to be reached; may be "". Never NULL; released by network_release. */
struct network_use *network_take(struct networks *networks, const char *owner, const char *url);
/* Calls ready(data, err) once: at once if it is known, else from the loop. `err` is NULL if the network is there. */
void network_wait(struct network_use *use, void (*ready)(void *data, const struct err *err), void *data);
/* Calls lost(data) if the network ends after it was ready; it can't be used any more, and is to be released. */
void network_on_loss(struct network_use *use, void (*lost)(void *data), void *data);
/* The descriptors of its user and network namespace, for struct child_spec. NULL unless it is there. Borrowed. */
const int *network_namespaces(const struct network_use *use);
/* Its holder keeps it until every copy of this descriptor is closed. -1 unless it is there. Borrowed. */
int network_socket(const struct network_use *use);
/* Takes the use; nothing is called after it. No process may run in the network any more. NULL is fine. */
void network_release(struct network_use *use);

#endif
