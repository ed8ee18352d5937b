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

/* Checks a record: ERR_INVALID with the backend that it names, if that is not the local one with this path. Pure. */
int backend_check_record(const char *text, size_t len, const char *path, struct err *err);
/* True if the text sets a backend or HCP's `cloud`; false if it can't be parsed. Pure. */
bool text_sets_backend(enum config_syntax syntax, const char *text, size_t len);

/* Checks the working directory `folder`. ERR_INVALID with a sentence that names the files that set another backend. */
int backend_check(int folder, const char *path, struct err *err);

#endif
