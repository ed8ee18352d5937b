/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VCS_VCS_REPO_H
#define SCHEDULER_API_VCS_VCS_REPO_H

/* The attribute vcs-repo of workspaces, policy sets and modules. */

#include "common/vcs/ref.h"
#include "scheduler/api/api.h"
#include "scheduler/store/vcs/repositories.h"

/* The provider's answers, which were requested before the handler's transaction (api/vcs/lookup.h). */
struct vcs_lookup {
	char head[VCS_SHA_MAX + 1]; /* the commit of a policy set's new branch; "": not known */
};

/* The attribute in a request's body. The texts are borrowed from it; NULL: not sent. */
struct vcs_repo_input {
	bool sent;       /* the body has the attribute */
	bool disconnect; /* it is null */
	const char *identifier, *branch, *tags_regex, *token_id, *installation_id;
	const char *source_directory, *tag_prefix; /* of modules */
	bool submodules_sent, ingress_submodules;
};
/* ERR_INVALID with a pointer for a wrong type, a bad branch and a bad regular expression. */
int vcs_repo_input_read(const struct request *req, struct vcs_repo_input *ret_input, struct err *err);
/* The text of a body, or if it was not sent, the member of what is used now. Never NULL. */
const char *vcs_repo_text(const char *sent, const json_t *used, const char *member);
/* Merges the input into the repository's settings for its user, and stores them. `more` has `policies_path` and
 * `update_patterns` of a policy set; it may be NULL. Does nothing if nothing was sent, or if nothing differs. */
int vcs_repo_save(struct request *req, struct vcs_user user, const struct vcs_repo_input *input,
	const struct vcs_use *more, struct err *err);

/* The attribute from a jsonb column of :vcs_used_by_workspace or :vcs_used_by_policy_set. A new reference; null: there
 * is none. */
json_t *vcs_repo_shown(const struct store *store, const char *repository);
/* The URL of a hook, or null if the provider has none for each repository. */
json_t *vcs_webhook_url(const struct store *store, enum vcs_provider provider, const char *hook);

#endif
