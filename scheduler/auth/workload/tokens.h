/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WORKLOAD_TOKENS_H
#define SCHEDULER_AUTH_WORKLOAD_TOKENS_H

/*
 * Identities of runs (workload identity of HCP Terraform): tokens that tell another system which workspace's plan or
 * apply presents them. A variable TFC_WORKLOAD_IDENTITY_AUDIENCE[_TAG] of the category env asks for one, which the
 * processes of the run get as TFC_WORKLOAD_IDENTITY_TOKEN[_TAG]. A token is made when a worker claims the job, and is
 * stored nowhere. The audit trail has its id.
 */

#include "common/json/json.h"
#include "scheduler/store/store.h"

#define WORKLOAD_KEYS_PATH "/.well-known/jwks"

/* The job that a token speaks for. Borrowed. */
struct workload {
	const char *organization, *organization_id, *project, *project_id, *workspace, *workspace_id;
	const char *run, *phase; /* "plan" or "apply" */
	int attempt;
	long long seconds; /* that the job may take; 0: a day, which is the most */
};

/* The subject "organization:O:project:P:workspace:W:run_phase:plan". The caller frees it. */
char *workload_subject(const struct workload *workload);
/* Appends the tokens that the variables ask for, as sensitive variables of the category env. */
int workload_tokens_add(struct store *store, const struct workload *workload, json_t *variables, struct err *err);

#endif
