/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TOOL_VERSIONS_H
#define SCHEDULER_STORE_TOOL_VERSIONS_H

/* The versions of terraform, opa and sentinel that site admins list, for clients. A disabled version of terraform can't
 * be chosen by a workspace, and starts no run. A constraint such as "~> 1.11.0" may still choose a version
 * that is disabled, where a worker has it. */

#include "scheduler/store/store.h"

struct tool_versions {
	const char *tool;
	const char *exact;  /* this version alone, or NULL */
	const char *search; /* part of a version, or NULL */
	long long limit, offset;
};
/* Columns id, tool, version, archs, official, enabled, beta, deprecated, deprecated_reason, created_at, usage (how many
 * workspaces or policy sets have chosen it) and total; the newest version first. */
int tool_versions_list(struct store *store, const struct tool_versions *list, struct rows *ret_rows, struct err *err);
/* The same columns of one. ERR_NOT_FOUND. */
int tool_version_read(struct store *store, const char *tool, const char *id, struct rows *ret_rows, struct err *err);
/* `fields` has all of version, archs, official, enabled, beta, deprecated and deprecated-reason. ERR_INVALID "Version
 * has already been taken". */
int tool_version_create(
	struct store *store, const char *tool, const json_t *fields, struct id *ret_id, struct err *err);
/* As above; what is replaced is all of it. */
int tool_version_update(struct store *store, const char *id, const json_t *fields, struct err *err);
/* ERR_NOT_FOUND. ERR_CONFLICT while it is used. */
int tool_version_delete(struct store *store, const char *tool, const char *id, struct err *err);

/* ERR_INVALID at the pointer if a site admin has disabled that version of terraform; a constraint is none. */
int tool_version_check(struct store *store, const char *version, const char *pointer, struct err *err);

#endif
