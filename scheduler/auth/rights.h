/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_RIGHTS_H
#define SCHEDULER_AUTH_RIGHTS_H

/*
 * What may be done (permissions.def), and what the access that a team is given comes to. Rights are sets of bits, the
 * bits' numbers being those of the table: they stand in the database (teams.rights and kin), so that one bit_or says
 * what somebody may somewhere. Pure.
 */

#include <stdint.h>

#include "common/err.h"
#include "common/json.h"

/* Where a right is looked up: an organization, a project in it, or a workspace in that. */
enum where { ANYWHERE, ORGANIZATION, PROJECT, WORKSPACE };

enum permission {
#define GATE(name, text)                   name,
#define PERMISSION(name, bit, where, text) name,
#include "scheduler/auth/permissions.def"
#undef GATE
#undef PERMISSION
	PERMISSION_COUNT
};

/* The bits' numbers, for what is made at compile time. */
enum {
#define GATE(name, text)
#define PERMISSION(name, bit, where, text) BIT_##name = (bit),
#include "scheduler/auth/permissions.def"
#undef GATE
#undef PERMISSION
};

struct permission_row {
	const char *name;
	enum where where;
	int bit; /* -1: the server checks it */
	const char *text;
};
extern const struct permission_row permission_rows[PERMISSION_COUNT];

typedef uint64_t rights;

/* The permission as a set of one; none for what the server checks itself. */
rights right_of(enum permission permission);
/* Everything that can be asked in such a place. */
rights rights_everywhere(enum where where);

/* ---- teams ---- */

/* Each organization has one of the first, and one of each of the last two, which only its tokens act as. */
enum team_kind { TEAM_OWNERS, TEAM_PLAIN, TEAM_ORGANIZATION, TEAM_AUDIT, TEAM_KIND_COUNT };
extern const char *const team_kinds[TEAM_KIND_COUNT];

/* What a team may in all of its organization, by its kind and the members of its organization-access that are true. */
rights rights_of_team(enum team_kind kind, const json_t *organization_access);

/* ---- access: a level, and what it is made of ---- */

/* One attribute of an access. A flag has no values; a choice has one row for each. */
struct access_row {
	const char *name;
	const char *value; /* NULL: a flag */
	rights rights;     /* what it gives */
};

struct access_level {
	const char *name;
	const char *detail; /* JSON: every attribute's value */
	rights more;        /* what it gives beside them */
};

/* What may be given of a workspace, of a project, and of the workspaces in a project. */
struct access_table {
	const struct access_row *rows;
	size_t rows_count;
	const struct access_level *levels; /* the last one is custom: the detail is what nobody asked for */
	size_t levels_count;
};
extern const struct access_table organization_accesses; /* flags alone */
extern const struct access_table workspace_accesses;
extern const struct access_table project_accesses, project_workspace_accesses;

/* The level of that name, or NULL. */
const struct access_level *access_level_find(const struct access_table *table, const char *name);
/*
 * Puts what was sent into *detail: with a fixed level its own values, with custom those sent, over those that were
 * there (*old, may be NULL). `pointer` is where `sent` stands in the body. ERR_INVALID for an unknown value, a wrong
 * type, and what is read-only at that level.
 */
int access_read(const struct access_table *table, const struct access_level *level, const json_t *sent,
	const json_t *old, const char *pointer, json_t **ret_detail, struct err *err);
/* What a level with these details comes to; level may be NULL. */
rights access_rights(const struct access_table *table, const struct access_level *level, const json_t *detail);

#endif
