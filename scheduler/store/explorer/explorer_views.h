/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPLORER_EXPLORER_VIEWS_H
#define SCHEDULER_STORE_EXPLORER_EXPLORER_VIEWS_H

/* Queries of the explorer that people saved in an organization. All of its members see them; a result has what its
 * reader may see. */

#include "scheduler/store/store.h"

enum { EXPLORER_MAX_VIEWS = 1000 };

struct explorer_view_input {
	const char *name, *query_type, *created_by; /* the last one: of a new one; may be NULL */
	const json_t *query;                        /* valid for explorer_query_document */
};

/* One page of the organization's views by name, with `total`: the shape `explorer_view`. */
int explorer_views_list(struct store *store, const char *organization_id, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int explorer_view_read(
	struct store *store, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken", or if the organization has EXPLORER_MAX_VIEWS. */
int explorer_view_create(struct store *store, const char *organization_id, const struct explorer_view_input *input,
	struct id *ret_id, struct err *err);
int explorer_view_update(struct store *store, const char *id, const struct explorer_view_input *input, struct err *err);
int explorer_view_delete(struct store *store, const char *id, struct err *err);

#endif
