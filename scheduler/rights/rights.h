/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RIGHTS_RIGHTS_H
#define SCHEDULER_RIGHTS_RIGHTS_H

/*
 * Permissions (permissions.def), and the rights that each level of access gives a team. Rights are sets of bits with
 * the numbers of that table. The database stores these sets (teams.rights and similar columns), so that one bit_or
 * computes the rights of a user. Pure.
 */

#include <stdint.h>

#include "common/err.h"
#include "common/json/json.h"

/* The kind of object that a right is checked for: an organization, a project in it, or a workspace in that. */
enum where { ANYWHERE, ORGANIZATION, PROJECT, WORKSPACE };

enum permission {
#define GATE(name, text)                   name,
#define PERMISSION(name, bit, where, text) name,
#include "scheduler/rights/permissions.def"
#undef GATE
#undef PERMISSION
	PERMISSION_COUNT
};

/* The bits' numbers, for constants at compile time. */
enum {
#define GATE(name, text)
#define PERMISSION(name, bit, where, text) BIT_##name = (bit),
#include "scheduler/rights/permissions.def"
#undef GATE
#undef PERMISSION
};

struct permission_row {
	const char *name;
	enum where where;
	int bit; /* -1: a GATE, which the server checks itself */
	const char *text;
};
extern const struct permission_row permission_rows[PERMISSION_COUNT];

/* The object whose permission is checked. The organization is always set; the others as far as the caller knows them.
 * Borrowed ids. */
struct place {
	const char *organization, *project, *workspace;
};

typedef uint64_t rights;

/* Returns the permission as a set of one right; the empty set for a GATE. */
rights right_of(enum permission permission);

/* ---- teams ---- */

/* Each organization has one team of the first kind, and one of each of the last two kinds, which only its tokens act
 * as. */
enum team_kind { TEAM_OWNERS, TEAM_PLAIN, TEAM_ORGANIZATION, TEAM_AUDIT, TEAM_KIND_COUNT };
extern const char *const team_kinds[TEAM_KIND_COUNT];

/* Returns a team's rights in its whole organization, by its kind and the members of its organization-access that are
 * true. */
rights rights_of_team(enum team_kind kind, const json_t *organization_access);

/* ---- access: levels and their attributes ---- */

/* One attribute of an access. A flag has one row; a choice has one row for each value. */
struct access_row {
	const char *name;
	const char *value; /* NULL: a flag */
	rights rights;     /* the rights that it gives */
};

struct access_level {
	const char *name;
	const char *detail; /* JSON: the value of every attribute */
	rights more;        /* rights in addition to those of the attributes */
};

/* The access that can be given to an organization, a workspace, a project, or the workspaces in a project. */
struct access_table {
	const struct access_row *rows;
	size_t rows_count;
	const struct access_level *levels; /* the last one is custom; its detail has the defaults */
	size_t levels_count;
};
extern const struct access_table organization_accesses; /* flags only */
extern const struct access_table workspace_accesses;
extern const struct access_table project_accesses, project_workspace_accesses;

/* The level of that name, or NULL. */
const struct access_level *access_level_find(const struct access_table *table, const char *name);
struct access_change {
	const struct access_level *level;
	const json_t *sent;  /* values in the body, or NULL */
	const json_t *old;   /* the values before, or NULL */
	const char *pointer; /* the position of `sent` in the body */
};
/*
 * Computes *ret_detail. A fixed level has its own values. For custom, the values of `sent` override those of `old`.
 * ERR_INVALID for an unknown value, a wrong type, and an attribute that is read-only at that level.
 */
int access_read(
	const struct access_table *table, const struct access_change *change, json_t **ret_detail, struct err *err);
/* Returns the rights of a level with these details; level may be NULL. */
rights access_rights(const struct access_table *table, const struct access_level *level, const json_t *detail);

#endif
