/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPIRY_RULES_H
#define SCHEDULER_STORE_EXPIRY_RULES_H

/* What the rules of retention do to a batch (store/expiry.h). */

#include "scheduler/store/expiry.h"

/* What a rule walks along: rows in the order of `at`. */
enum expiry_walk { WALK_RUNS, WALK_STATES, WALK_CONFIGURATIONS };

struct expiry_batch {
	struct db_array *ids; /* that the rule has come to */
	bool by_policy;       /* for those whose policy says `days`; else for those that have none, or of no days */
	long long days;
	const struct expiry_limits *limits;
};

struct expiry_rule {
	const char *name; /* in marks and metrics */
	const char *what; /* the audit trail's word for what goes */
	size_t days;      /* the offset of its days in struct expiry_limits */
	enum expiry_walk walk;
	bool of_policies; /* policies of organizations and workspaces may say other days */
	/* Deletes; one row for each that went: organization_id, id. */
	int (*expire)(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err);
};

enum { EXPIRY_RULES = 5, HIDDEN_RULES = 2 };
extern const struct expiry_rule expiry_rules[EXPIRY_RULES];

/* What is hidden for so many days goes for good. They walk along nothing: an index has what is due. */
struct hidden_rule {
	const char *name, *what, *sql; /* $1: days, $2: how many at most; organization_id, id */
};
extern const struct hidden_rule hidden_rules[HIDDEN_RULES];

#endif
