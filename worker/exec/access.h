/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ACCESS_H
#define WORKER_EXEC_ACCESS_H

/*
 * Gives programs of a run access to the API: `terraform_remote_state`, and programs that read the CLI configuration as
 * terraform does. The run's own token is in that file, as on HCP, and in no variable.
 */

#include "worker/runtime/assignment.h"

struct buf;

/* Appends the credentials for the API's host. Without TLS, also appends the addresses of its services, because
 * terraform discovers them only over TLS. Appends nothing if the run has no token. -1: over the limit. */
int access_cli_config(const struct assignment *assignment, struct buf *out);
/* The API's host as addresses of private providers have it: "runyard.example.com:8443". NULL: no provider can have such
 * an address. The caller frees it. */
char *access_host(const struct assignment *assignment);
/* The URL of the scheduler's mirror of providers. NULL: it has none, or engines do not use it without TLS. The caller
 * frees it. */
char *access_mirror(const struct assignment *assignment);

#endif
