/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPIRY_H
#define SCHEDULER_STORE_EXPIRY_H

/*
 * Retention: content that is old enough is deleted, in batches. The rows that tell of it stay.
 *
 * A rule walks along what makes content due, in the order of time, and keeps a mark of how far it has come
 * (retention_marks): ended runs for logs and plans, newer state and configuration versions for those before them. So
 * nothing is looked at twice, and nothing that is idle is looked at at all: a workspace's current state, or the
 * configuration that is its newest, is not due however old it is; its age counts from when another took its place.
 *
 * The workspace's policy applies, else the organization's, else the site's options. A policy in days covers states and
 * configurations; one that says "don't delete" keeps everything. A rule begins anew when a
 * policy was changed. Each batch is one transaction, with one audit event for each organization that names what went.
 *
 * States and configurations go in two steps, as they do through the API: for `hidden_days` they can be restored.
 */

#include "scheduler/store/store.h"

/* The site's policy in days; 0: for ever. */
struct expiry_limits {
	long long logs_days;           /* logs of ended runs */
	long long plan_files_days;     /* what only an apply needs: the plan file and what init made */
	long long plans_days;          /* the plan as JSON, and the providers' schemas */
	long long states_days;         /* states that newer ones followed */
	long long states_newest;       /* so many of a workspace's newest stay in any case; 1 at least */
	long long configurations_days; /* configurations that newer ones followed and no run needs */
	long long hidden_days;
};

/* One batch of each rule. *ret_more: some may have more to do at once. */
int expiry_run(struct store *store, const struct expiry_limits *limits, bool *ret_more, struct err *err);
/* The same for the logs of ended runs that are to be packed for the object store (store/logs.h). */
int packing_run(struct store *store, bool *ret_more, struct err *err);
/* Every rule begins anew: what a policy says has changed. */
int expiry_restart(struct store *store, struct err *err);

#endif
