/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ACCESS_H
#define WORKER_EXEC_ACCESS_H

/*
 * How what runs in a run reaches the API: `terraform_remote_state`, and programs that read the CLI configuration as
 * terraform does. The run's own token stands in that file, as on HCP, and in no variable.
 */

#include "worker/assignment.h"

struct buf;

/* Appends the credentials for the API's host; without TLS also where its services are, which terraform looks up by TLS
 * alone. Nothing if the run has no token. -1: over the limit. */
int access_cli_config(const struct assignment *assignment, struct buf *out);

#endif
