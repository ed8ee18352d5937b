/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_BACKEND_H
#define WORKER_EXEC_BACKEND_H

/*
 * The backend in force. The worker's override file sets a local backend with the state's path, but a configuration can
 * hold files that engines read after it (zzz_override.tf, *_override.tf.json) or instead of it (.tofu). So the worker
 * reads what init recorded in .terraform/terraform.tfstate.
 */

#include "common/buf.h"
#include "worker/exec/modules.h"

struct err;

/* Of the local backend, as seen from the working directory. */
struct backend_paths {
	const char *state;
	const char *workspaces; /* NULL: the backend must name none */
};

/* Checks a record: ERR_INVALID with the backend that it names, if that is not the local one with these paths. Pure. */
int backend_check_record(const char *text, size_t len, const struct backend_paths *paths, struct err *err);
/* True if the text sets a backend or HCP's `cloud`; false if it can't be parsed. Pure. */
bool text_sets_backend(enum config_syntax syntax, const char *text, size_t len);

/* Checks the working directory `folder`. ERR_INVALID with a sentence that names the files that set another backend. */
int backend_check(int folder, const struct backend_paths *paths, struct err *err);

/*
 * The worker of the apply gets what init made. A worker of an earlier version refuses a record with a workspace_dir. So
 * the record is sent without it, and the path stands in a member that such a worker ignores. An apply takes the
 * workspace_dir from the plan and not from the record. The next release can send the record as it is.
 */

/* Brings the record of the working directory `folder` into the form that is sent. ERR_INVALID, ERR_INTERNAL. */
int backend_record_park(int folder, struct err *err);
/* Brings it back. False: it has another form, since a worker of an earlier version made it. */
bool backend_record_unpark(int folder);

#endif
