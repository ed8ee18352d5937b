/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SANDBOX_BASE_H
#define WORKER_SANDBOX_BASE_H

/*
 * The bases of sandboxes (view.h), each made once by bwrap. A base belongs to one user namespace, that of a job's
 * network, or the worker's own. So organizations with networks of their own share no base. Programs share nothing that
 * they can write to, even in one base.
 *
 * A base is valid for one engine's file, and as long as the operator's files that it mounts are the same. The least
 * recently used bases are closed first.
 */

#include "worker/exec/sandbox.h"

struct bases;
struct loop;

/* `sandbox` is borrowed. */
struct bases *bases_new(struct loop *loop, const struct sandbox *sandbox);
/* No base may be awaited. NULL is fine. */
void bases_free(struct bases *bases);

/* Calls ready(data, base) once: at once if there is a base, otherwise from the loop after a thread has made one. `base`
 * is a descriptor, borrowed during the call. With -1, bwrap must start the program: there is no sandbox, the operator
 * mounts something below /tmp, or no base can be made, which the log says. `user` is the user namespace of the job's
 * network, or -1; borrowed. */
void bases_get(struct bases *bases, const char *engine, int user, void (*ready)(void *data, int base), void *data);

#endif
