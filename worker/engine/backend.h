/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_BACKEND_H
#define WORKER_ENGINE_BACKEND_H

/*
 * Checks which backend the engine uses. The worker's override file sets a local backend with the state's path. But a
 * configuration can have files that engines read after it (zzz_override.tf, *_override.tf.json) or instead of it
 * (.tofu). So the worker reads the record that init made, .terraform/terraform.tfstate.
 */

#include "common/buf.h"
#include "worker/packages/modules.h"

struct err;

/* Paths of the local backend, relative to the working directory. */
struct backend_paths {
	const char *state;
	const char *workspaces; /* NULL: the backend must name none */
};

/* Checks a record. ERR_INVALID with the backend's name unless it is the local backend with these paths. Pure. */
int backend_check_record(const char *text, size_t len, const struct backend_paths *paths, struct err *err);
/* True if the text sets a backend or HCP's `cloud`. False if it can't be parsed. Pure. */
bool text_sets_backend(enum config_syntax syntax, const char *text, size_t len);

/* Checks the working directory `folder`. ERR_INVALID with a message that names the files that set another backend. */
int backend_check(int folder, const struct backend_paths *paths, struct err *err);

/*
 * The worker of the apply gets the files that init made. A worker of an earlier version refuses a record with a
 * workspace_dir. So the record is sent without it, and the path moves to a member that such a worker ignores. An apply
 * takes the workspace_dir from the plan, not from the record. The next release can send the record unchanged.
 */

/* Converts the record of the working directory `folder` to the form that is sent. ERR_INVALID, ERR_INTERNAL. */
int backend_record_park(int folder, struct err *err);
/* Converts the record back. False if it has another form, because a worker of an earlier version made it. */
bool backend_record_unpark(int folder);

#endif
