/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WORKLOAD_IDENTITY_H
#define SCHEDULER_AUTH_WORKLOAD_IDENTITY_H

/*
 * Identities of runs (workload identity of HCP Terraform): what a claimed job gets.
 *
 * A variable TFC_WORKLOAD_IDENTITY_AUDIENCE[_TAG] of the category env asks for a token, which the processes of the run
 * get as TFC_WORKLOAD_IDENTITY_TOKEN[_TAG]. Variables such as TFC_AWS_PROVIDER_AUTH ask for credentials
 * (credentials.h), for which each configuration gets a token of its own.
 */

#include "scheduler/auth/workload/tokens.h"

struct workload_job {
	struct workload workload;
	bool from_fork;    /* it runs code of a fork, which has no identity */
	bool plan_only;    /* no apply follows */
	bool worker_knows; /* its worker can use credentials */
};

/* Adds the tokens to the job's "variables", and the members "credentials" and "refusal" (proto/README.md). ERR_INVALID:
 * the run must end with that sentence, since its worker can't use credentials. */
int workload_identity_add(struct store *store, const struct workload_job *job, json_t *document, struct err *err);
/* The names of a workspace: one row, workload_names_row. ERR_NOT_FOUND. */
int workload_names_read(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);

#endif
