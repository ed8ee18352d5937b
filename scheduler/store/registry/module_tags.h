/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H
#define SCHEDULER_STORE_REGISTRY_MODULE_TAGS_H

/*
 * Versions from tags. A module with a repository has a version for each tag that is a semantic version, with or without
 * a leading v. The files of its commit are fetched once, by a worker. A version stays as it is when its tag is moved or
 * deleted; a moved tag is shown. A version that a user has deleted does not come back.
 */

#include "scheduler/store/store.h"

/* Notes that tags of the repository have changed. In the transaction that has changed them. */
int module_tags_changed(struct store *store, const char *repository_id, struct err *err);
/* Makes versions of the tags of one module that has changed ones. A failure is logged. *ret_more: there may be others.
 */
int module_tags_step(struct store *store, bool *ret_more, struct err *err);
/* Ends the versions that wait for the content of a commit. `sentence`: why its fetch failed; NULL: it is stored. */
int module_content_end(struct store *store, const char *content_id, const char *sentence, struct err *err);

#endif
