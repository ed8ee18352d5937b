/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_NETWORK_NETWORK_H
#define WORKER_NETWORK_NETWORK_H

/*
 * The isolated networks of a worker's jobs. plan.h describes what a job can reach; holder.h describes how the kernel
 * enforces it.
 *
 * A network serves one job at a time, and all commands of that job. Making one costs about 25 ms of processor time, so
 * it is kept. It serves the organization's next job whose plan is equal (same addresses of the machine). Another
 * organization's job never gets it. The earlier job leaves nothing behind in it:
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
 *
 * Some networks are prepared: they are ready before an organization needs them. A prepared network has no owner and has
 * served no job. The first organization that gets it owns it until it ends. Prepared networks have the plan of the last
 * job; with another plan they end. One network at a time is replaced, after the job that took one has begun. If
 * prepared networks fail, the worker tries again with backoff and logs one line.
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
	const struct texts *urls;          /* URLs that every job must reach; copied */
	size_t keep;                       /* maximum number of organizations' unused networks */
	size_t prepare;                    /* number of networks without an owner */
	int64_t grace_ms; /* how long a network outlives the worker for an apply that is being stopped */
};

/* Makes one network and ends it, to test the machine. This takes a few hundredths of a second. ERR_INVALID with
 * advice if the machine can't have one. */
int networks_open(const struct networks_spec *spec, struct networks **ret_networks, struct err *err);
/* Ends all networks and blocks until they have ended. No use may be left. NULL is fine. */
void networks_free(struct networks *networks);

/* Starts to get a network for one job, or for one command of the worker's own. `owner` is the organization, or ""
 * for the worker. `url` is one more URL that must be reachable; may be "". Never NULL; released by network_release. */
struct network_use *network_take(struct networks *networks, const char *owner, const char *url);
/* Calls ready(data, err) once: immediately if the outcome is known, otherwise from the loop. `err` is NULL if the
 * network is ready. */
void network_wait(struct network_use *use, void (*ready)(void *data, const struct err *err), void *data);
/* Calls lost(data) if the network ends after it was ready. The network is unusable then, and the use must be
 * released. */
void network_on_loss(struct network_use *use, void (*lost)(void *data), void *data);
/* The descriptors of its user and network namespace, for struct child_spec. NULL unless the network is ready.
 * Borrowed. */
const int *network_namespaces(const struct network_use *use);
/* The holder keeps the network until every copy of this descriptor is closed. -1 unless the network is ready.
 * Borrowed. */
int network_socket(const struct network_use *use);
/* Takes the use; no callback is called after it. No process may still run in the network. NULL is fine. */
void network_release(struct network_use *use);

#endif
