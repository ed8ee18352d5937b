/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_EXPIRY_RULES_H
#define SCHEDULER_STORE_CONTENT_EXPIRY_RULES_H

/* The retention rules: what each one deletes in a batch (store/content/expiry.h). */

#include "scheduler/store/store.h"

/* The site's policy in days; 0: keep forever. */
struct expiry_limits {
	long long logs_days;           /* logs of ended runs */
	long long plan_files_days;     /* data that only an apply needs: the plan file and the output of init */
	long long plans_days;          /* the plan as JSON, and the providers' schemas */
	long long states_days;         /* states that have a newer one */
	long long states_newest;       /* minimum number of a workspace's newest states to keep; at least 1 */
	long long configurations_days; /* configurations that have a newer one and that no run needs */
	long long hidden_days;
};

/* The rows that a rule scans, in the order of `at`. */
enum expiry_walk { WALK_RUNS, WALK_STATES, WALK_CONFIGURATIONS };

struct expiry_batch {
	struct db_array *ids; /* the rows that the scan has reached */
	bool by_policy;       /* true: only owners whose policy has `days`; false: all others (see expiry_rules.c) */
	long long days;
	const struct expiry_limits *limits;
};

struct expiry_rule {
	const char *name; /* in retention_marks and metrics */
	const char *what; /* the resource type in the audit trail */
	size_t days;      /* the offset of its days in struct expiry_limits */
	enum expiry_walk walk;
	bool of_policies; /* policies of organizations and workspaces may set other days */
	/* Deletes content and returns a row `expired` for each deleted item. */
	int (*expire)(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err);
};

enum { EXPIRY_RULES = 5, HIDDEN_RULES = 2 };
extern const struct expiry_rule expiry_rules[EXPIRY_RULES];

/* Permanently deletes what was soft-deleted so many days ago. These rules have no position: an index finds the due
 * rows. */
struct hidden_rule {
	const char *name, *what;
	const struct db_statement *delete; /* takes what expiry_hidden_states takes, gives `expired` */
};
extern const struct hidden_rule hidden_rules[HIDDEN_RULES];

#endif
