/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_PROVIDER_SETS_PROVIDER_SETS_H
#define SCHEDULER_STORE_REGISTRY_PROVIDER_SETS_PROVIDER_SETS_H

/*
 * Provider sets: configurations of providers that runs of no-code workspaces get. A set applies to the whole
 * organization (global), to projects or to workspaces. The fragment `provider_sets_of_run` has their order.
 *
 * Rows have the shape `provider_set`.
 */

#include "common/json/json.h"
#include "scheduler/store/store.h"

/* A run's job carries at most all of them. */
enum { MAX_PROVIDER_SETS = 100, MAX_PROVIDER_SET_BYTES = 32 * 1024 };

enum provider_set_relation { PROVIDER_SET_WORKSPACES, PROVIDER_SET_PROJECTS, PROVIDER_SET_RELATIONS };

/* Borrowed. */
struct provider_set {
	const char *name, *description;
	const char *source, *configuration;
	bool global, priority;
	/* Arrays of ids that replace the current ones; or NULL: unchanged. A global set has none. */
	const json_t *related[PROVIDER_SET_RELATIONS];
};

struct provider_set_list {
	const char *organization_id;
	const char *project_id;   /* sets that apply to this project, or NULL */
	const char *workspace_id; /* sets that apply to this workspace, or NULL */
	const char *search;       /* part of the name, or NULL */
	long long limit, offset;
};

/* Sorted by name, with `total`; a row with a null id if the page is empty. */
int provider_sets_list(
	struct store *store, const struct provider_set_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int provider_set_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int provider_set_find(
	struct store *store, const char *organization_id, const char *name, struct rows *ret_rows, struct err *err);
/* In the transaction of the caller. ERR_INVALID "Name has already been taken", "Invalid Projects ...", or if the
 * organization has MAX_PROVIDER_SETS. */
int provider_set_create(struct store *store, const char *organization_id, const struct provider_set *set,
	struct id *ret_id, struct err *err);
int provider_set_update(struct store *store, const char *id, const struct provider_set *set, struct err *err);
/* In the transaction of the caller. ERR_INVALID if one of them is not the organization's. */
int provider_sets_delete(struct store *store, const char *organization_id, const json_t *ids, struct err *err);

struct provider_set_members {
	enum provider_set_relation relation;
	const json_t *ids; /* an array */
};
/* In the transaction of the caller. ERR_INVALID at the pointer if one of the ids is not of the set's organization. */
int provider_set_attach(
	struct store *store, const char *id, struct provider_set_members members, const char *pointer, struct err *err);
/* Ids that are not attached are ignored. */
int provider_set_detach(struct store *store, const char *id, struct provider_set_members members, struct err *err);

#endif
