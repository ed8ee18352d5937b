/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VCS_LOOKUP_H
#define SCHEDULER_API_VCS_LOOKUP_H

/*
 * Checks credentials, repositories and branches of API requests at the provider. Each check waits for the answer, for
 * at most 10 s. Never call it within a transaction. The answer is 422 if the provider refuses the credential, or does
 * not have the repository or branch. Without an answer the API's request goes on, because the provider may be reachable
 * by notifiers or workers only.
 */

#include "common/vcs/dialect.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/store/vcs/credentials.h"

/* A credential before it is stored. */
struct vcs_trial {
	enum vcs_provider provider;
	const char *api_url, *token;
	const char *pool_id; /* whose workers send the request; NULL: none */
};
struct vcs_trial_result {
	bool verified;
	char user[256]; /* of the provider; "": not known */
};
/* ERR_INVALID at the attribute oauth-token-string if the provider refuses it. */
int vcs_credential_try(
	struct store *store, const struct vcs_trial *trial, struct vcs_trial_result *ret_result, struct err *err);

/* Looks up the repository and the branch of the body's vcs-repo if they are new. Checks the route's permission first.
 * For routes of BLOCKING_LOOKUP, before the handler's transaction. ERR_INVALID at the member of vcs-repo. */
int vcs_repo_lookup(struct request *req, struct vcs_lookup *ret_lookup, struct err *err);

/* Answers with the repositories that the credential sees and whose names have the text of search[name]. For routes of
 * BLOCKING_CALL. */
int respond_provider_repositories(
	struct request *req, struct response *res, const struct vcs_credential *credential, struct err *err);
/* Answers with the newest commits of a branch of the credential's repository, at most VCS_COMMITS_MAX; "": of the
 * default branch. ERR_INVALID with the reason if the provider does not list them. For routes of BLOCKING_CALL. */
int respond_provider_commits(struct request *req, struct response *res, const struct vcs_credential *credential,
	const char *branch, struct err *err);

#endif
