/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_TOOL_VERSIONS_H
#define SCHEDULER_STORE_WORKERS_TOOL_VERSIONS_H

/* Versions of terraform, opa and sentinel that site admins list for clients. A workspace can't select a disabled
 * version of terraform, and such a version starts no run. A constraint such as "~> 1.11.0" may still resolve to a
 * disabled version if a worker has it. */

#include "scheduler/store/store.h"

struct tool_versions {
	const char *tool;
	const char *exact;  /* only this version, or NULL */
	const char *search; /* part of a version, or NULL */
	long long limit, offset;
};
/* Columns id, tool, version, archs, official, enabled, beta, deprecated, deprecated_reason, created_at, usage (number
 * of workspaces or policy sets that selected it) and total; the newest version first. */
int tool_versions_list(struct store *store, const struct tool_versions *list, struct rows *ret_rows, struct err *err);
/* The same columns of one version. ERR_NOT_FOUND. */
int tool_version_read(struct store *store, const char *tool, const char *id, struct rows *ret_rows, struct err *err);
/* `fields` has all of version, archs, official, enabled, beta, deprecated and deprecated-reason. ERR_INVALID "Version
 * has already been taken". */
int tool_version_create(
	struct store *store, const char *tool, const json_t *fields, struct id *ret_id, struct err *err);
/* As above; replaces all fields. */
int tool_version_update(struct store *store, const char *id, const json_t *fields, struct err *err);
/* ERR_NOT_FOUND. ERR_CONFLICT while a workspace uses it. */
int tool_version_delete(struct store *store, const char *tool, const char *id, struct err *err);

/* ERR_INVALID at the pointer if a site admin has disabled that version of terraform. Constraints are always valid. */
int tool_version_check(struct store *store, const char *version, const char *pointer, struct err *err);

#endif
