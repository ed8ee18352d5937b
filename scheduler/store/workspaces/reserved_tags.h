/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_RESERVED_TAGS_H
#define SCHEDULER_STORE_WORKSPACES_RESERVED_TAGS_H

/*
 * Keys of tags with a meaning in all of an organization. If a key has `disable_overrides`, a workspace can't bind it
 * while its project does. An older binding of the workspace has no effect (the view effective_tags).
 */

#include "scheduler/store/store.h"

/* One page of the organization's keys by age, with `total`: the shape `reserved_tag`. */
int reserved_tags_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err);
/* ERR_NOT_FOUND. */
int reserved_tag_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Key has already been taken". */
int reserved_tag_create(struct store *store, const char *organization_id, const char *key, bool disable_overrides,
	struct id *ret_id, struct err *err);
int reserved_tag_update(struct store *store, const char *id, const char *key, bool disable_overrides, struct err *err);
int reserved_tag_delete(struct store *store, const char *id, struct err *err);

/* Tags that are about to be bound to workspaces, by name or by id. */
struct tags_bound {
	struct db_array *workspaces, *names, *ids;
	const char *pointer;
};
/* ERR_INVALID at the pointer for a key that a workspace inherits from its project and can't override. */
int reserved_tags_check(struct store *store, const struct tags_bound *bound, struct err *err);

#endif
