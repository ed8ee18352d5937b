/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H
#define SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H

/*
 * Versions from tags. A module with a repository has a version for each tag that is a semantic version, with or without
 * a leading v. The files of its commit are fetched once, by a worker. A version keeps its commit when its tag is
 * moved or deleted; its error names a moved tag. A version that a user deleted is not created again.
 */

#include "scheduler/store/store.h"

/* Notes that tags of the repository have changed. In the transaction that has changed them. */
int module_tags_changed(struct store *store, const char *repository_id, struct err *err);
/* Creates versions for new tags of one module. A failure of a module is logged. *ret_more: call it again. */
int module_tags_step(struct store *store, bool *ret_more, struct err *err);
/* Ends the versions that wait for the content of a commit. `sentence`: why its fetch failed; NULL: it is stored. */
int module_content_end(struct store *store, const char *content_id, const char *sentence, struct err *err);

#endif
