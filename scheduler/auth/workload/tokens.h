/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WORKLOAD_TOKENS_H
#define SCHEDULER_AUTH_WORKLOAD_TOKENS_H

/* Tokens that tell another system which workspace's plan or apply presents them. A token is made when a worker claims
 * the job, and is stored nowhere. The audit trail has its id. */

#include "common/jose/sign.h"
#include "common/json/json.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/store.h"

#define WORKLOAD_KEYS_PATH "/.well-known/jwks"

/* The job that a token speaks for. Borrowed. */
struct workload {
	const char *organization, *organization_id, *project, *project_id, *workspace, *workspace_id;
	const char *module;      /* whose tests the job runs, or NULL: they have no workspace */
	const char *run, *phase; /* "plan" or "apply" */
	int attempt;
	long long seconds; /* that the job may take; 0: a day, which is the most */
};

/* The subject "organization:O:project:P:workspace:W:run_phase:plan", or of the tests of a module
 * "organization:O:module:M:operation:test_run". The caller frees it. */
char *workload_subject(const struct workload *workload);

/* The tokens of one job. */
struct workload_tokens {
	struct store *store;
	const struct workload *workload;
	json_t *wanted; /* their claims, and which member of which object gets each */
	struct audit_batch audit;
};

void workload_tokens_begin(struct workload_tokens *tokens, struct store *store, const struct workload *workload);
/* Asks for a token for the audience: workload_tokens_make sets it as that member of the object `into`. */
void workload_token_want(struct workload_tokens *tokens, const char *audience, json_t *into, const char *member);
/* Signs all tokens while PostgreSQL writes their audit events. If it fails, no token may leave this process. Outside of
 * transactions. */
int workload_tokens_make(struct workload_tokens *tokens, struct err *err);
void workload_tokens_release(struct workload_tokens *tokens);

#endif
