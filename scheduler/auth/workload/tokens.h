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
	const char *run, *phase; /* "plan" or "apply" */
	int attempt;
	long long seconds; /* that the job may take; 0: a day, which is the most */
};

/* The subject "organization:O:project:P:workspace:W:run_phase:plan". The caller frees it. */
char *workload_subject(const struct workload *workload);

/* The tokens of one job. */
struct workload_tokens {
	struct store *store;
	const struct workload *workload;
	const struct jose_signer *signer; /* NULL: no token was made */
	struct audit_batch audit;
};

void workload_tokens_begin(struct workload_tokens *tokens, struct store *store, const struct workload *workload);
/* Makes a token for the audience. The caller frees it as a secret. NULL: *err. */
char *workload_token(struct workload_tokens *tokens, const char *audience, struct err *err);
/* Writes the audit events of all tokens. To be called before a token leaves this process. */
int workload_tokens_audit(struct workload_tokens *tokens, struct err *err);
void workload_tokens_release(struct workload_tokens *tokens);

#endif
