/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_COMMITS_H
#define SCHEDULER_STORE_VCS_EVENTS_COMMITS_H

/* Configuration versions and versions of policy sets that come from commits. The attributes of the commit are the API's
 * ingress-attributes. */

#include "scheduler/store/store.h"

/* The content of a commit of a repository, which is created if it is not there. Locks it in share mode
 * (store/vcs/contents.h). *ret_stored: its files are here. */
struct vcs_commit {
	const char *repository_id, *sha;
	bool submodules;
	const char *directory; /* of which the files are; "": the whole commit */
};
int vcs_content_of(
	struct store *store, const struct vcs_commit *commit, struct id *ret_id, bool *ret_stored, struct err *err);

/* The properties that all versions of one event share. */
struct vcs_ingress {
	const char *event_id, *sha, *source; /* source of configuration versions: "github" */
	const char *branch, *tag;            /* "" if it is the other */
	const char *actor;                   /* user id, or NULL */
	long long pull_request;              /* 0: none */
	const json_t *detail;                /* the other attributes, by their names in the API */
};
/* Creates configuration versions, and makes them their workspaces' current ones, unless they are of a pull request.
 * `versions`: {id, workspace_id, content_id}. */
int vcs_configurations_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err);
/* The repository of a policy set. Columns: repository_id, identifier, ingress_submodules, provider, http_url, api_url.
 * ERR_NOT_FOUND. */
int vcs_policy_repository_read(struct store *store, const char *policy_set_id, struct rows *ret_rows, struct err *err);
/* Creates versions of policy sets that are `ingressing`, and has their contents fetched. `versions`: {id,
 * policy_set_id, content_id}. */
int vcs_policy_versions_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err);
/* Ends the versions of policy sets that wait for the content. `sentence`: why it failed; NULL: it is stored. */
int vcs_policy_versions_end(struct store *store, const char *content_id, const char *sentence, struct err *err);

/* Sets a commit's message and author, which git has read, unless a payload had them. */
int vcs_commit_describe(
	struct store *store, const char *repository_id, const char *sha, const json_t *commit, struct err *err);

/* The ingress attributes with these ids; unknown ids are skipped. Columns: the table's, repository (its identifier, or
 * null), created_by, and workspace_id. The rows are available later (db_ask). */
int vcs_ingress_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

#endif
