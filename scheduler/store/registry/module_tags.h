/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H
#define SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H

/*
 * Versions from a repository, whose files a worker fetches once.
 *
 * A module without a branch has a version for each tag that is its prefix and a semantic version, with or without a
 * leading v. The files are those of its source directory. A version keeps its commit when its tag is moved or deleted;
 * its error names a moved tag. A version that a user deleted is not created again.
 *
 * A module with a branch has the versions that users request. Each is the commit that the user has named, or the head
 * of the branch at that time. It is pending until the VCS thread has found the commit.
 */

#include "common/vcs/dialect.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/store.h"

/* Notes that tags of the repository have changed. In the transaction that has changed them. */
int module_tags_changed(struct store *store, const char *repository_id, struct err *err);
/* Wakes the VCS thread after a look at the repository if one of its modules waits for that. In the look's transaction.
 */
int module_repository_looked(struct store *store, const char *repository_id, struct err *err);
/* Creates versions for new tags of one module, and takes requested ones. A failure of a module is logged. *ret_more:
 * call it again. */
int module_tags_step(struct store *store, bool *ret_more, struct err *err);
/* Requests a version of a module with a branch. The errors are those of module_version_create. */
struct module_version_wish {
	struct module_version_draft draft; /* commit_sha NULL: the head of the branch */
	const char *repository_id;
	enum vcs_provider provider;
};
int module_version_request(
	struct store *store, const struct module_version_wish *wish, struct id *ret_id, struct err *err);
/* Ends the versions that wait for the content of a commit. `sentence`: why its fetch failed; NULL: it is stored. */
int module_content_end(struct store *store, const char *content_id, const char *sentence, struct err *err);

#endif
