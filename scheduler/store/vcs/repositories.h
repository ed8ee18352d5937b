/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_REPOSITORIES_H
#define SCHEDULER_STORE_VCS_REPOSITORIES_H

/*
 * Repositories that workspaces, policy sets and modules of the registry use. There is one row for each connection and
 * spelling of the name. An unused repository stays, with its events, until its connection is deleted.
 */

#include "common/vcs/address.h"
#include "scheduler/store/store.h"
#include "scheduler/store/vcs/repositories.sql.h"
#include "scheduler/store/vcs/event_list.sql.h"

/* The context of the seals of hook_secret_sealed and hook_previous_sealed: followed by the repository's id. */
#define VCS_HOOK_SEAL "vcs-hook:"

/* ---- its users ---- */

enum vcs_user_kind { VCS_USER_WORKSPACE, VCS_USER_POLICY_SET };

struct vcs_user {
	enum vcs_user_kind kind;
	const char *id;
};

/* Reads a row vcs_used: the organization, the project (of a workspace), the settings, and the repository that it uses.
 * ERR_NOT_FOUND. */
int vcs_used_read(struct store *store, struct vcs_user user, struct rows *ret_rows, struct err *err);

/* A connection that a token belongs to, or an installation of the site's GitHub App. */
struct vcs_source {
	struct id connection, installation; /* one of them is "" */
	enum vcs_provider provider;
	enum vcs_dialect dialect;
};
/* Exactly one of the ids is not NULL. ERR_INVALID at the pointer of vcs-repo's attribute if it is not in the
 * organization, or is not available in the project (NULL: in the whole organization). Prevents its deletion until the
 * transaction ends. */
struct vcs_source_ids {
	const char *organization_id, *project_id, *token_id, *installation_id;
};
int vcs_source_find(
	struct store *store, const struct vcs_source_ids *ids, struct vcs_source *ret_source, struct err *err);

/* The use of a repository by a workspace, policy set or module. All texts are set. */
struct vcs_use {
	const char *organization_id;
	struct vcs_source source;
	const char *identifier, *branch, *tags_regex; /* tags_regex: of workspaces */
	bool ingress_submodules;
	const char *policies_path;                 /* of policy sets, or NULL */
	const json_t *update_patterns;             /* of policy sets: an array, or NULL */
	const char *source_directory, *tag_prefix; /* of modules */
};
/* The repository of that use. Creates its row if it is missing. */
int vcs_repository_of_use(struct store *store, const struct vcs_use *use, struct id *ret_id, struct err *err);
/* Connects the user to the repository, and creates its row if it is missing. *ret_changed: the repository or the branch
 * is another one than before. */
int vcs_use_set(struct store *store, struct vcs_user user, const struct vcs_use *use, struct id *ret_repository,
	bool *ret_changed, struct err *err);
int vcs_use_clear(struct store *store, struct vcs_user user, struct err *err);
/* Copies the path and the patterns of a policy set that has a repository. */
int vcs_use_of_policies(struct store *store, const char *policy_set_id, const char *policies_path,
	const json_t *update_patterns, struct err *err);

/* ERR_INVALID at the pointer if one of the workspaces has a repository whose connection is not available in its
 * project: call it after workspaces were moved. */
int vcs_available_check(struct store *store, const json_t *workspace_ids, const char *pointer, struct err *err);

/* The columns of a repository and its connection from which its address is made. */
struct vcs_place_columns {
	const char *identifier, *provider, *http_url, *api_url;
};
/* Borrows their texts. False if a column is null or not valid. */
bool vcs_place_of(struct vcs_place_columns columns, struct vcs_place *ret_place);

/* ---- lists ---- */

/* Rows `vcs_repository`. */
int vcs_repositories_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int vcs_repository_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The hook's secret, with which the provider signs; NULL: none. The caller frees it. */
int vcs_hook_secret_read(struct store *store, const char *id, char **ret_secret, struct err *err);
/* Creates a new secret for the hook, which a notifier sends to the provider later. The previous secret is also accepted
 * for a day, or until shortly after the provider has the new one. In a transaction. */
int vcs_hook_secret_rotate(struct store *store, const char *id, enum vcs_dialect dialect, struct err *err);

#endif
