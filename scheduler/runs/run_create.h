/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_RUN_CREATE_H
#define SCHEDULER_RUNS_RUN_CREATE_H

/* Creates runs. All inputs of a run are fixed at this point. */

#include "scheduler/store/store.h"

/* A choice that the request may leave to the workspace or the configuration version. */
enum choice { CHOICE_UNSET = -1, CHOICE_NO, CHOICE_YES };

struct run_create_params {
	const char *workspace_id;
	const char *configuration_version_id; /* NULL: the latest one that was uploaded and is not provisional */
	const char *actor;                    /* user id, or NULL */
	const char *message;                  /* NULL: the default */
	const char *source;                   /* what created it: "tfe-ui", "tfe-api", "terraform+cloud", ... */
	const char *trigger_reason;           /* NULL: "manual" */
	enum choice plan_only, auto_apply;
	bool assessment;    /* of the workspace's health (runs/assessments/assessments.h) */
	bool query;         /* lists resources instead of planning; plan_only is CHOICE_YES then */
	const json_t *test; /* tests a module in its test bed (store/registry/test_beds.h), as the object says:
			     * {test-directory, filters, verbose, parallelism}. plan_only is CHOICE_YES then. Or NULL */
	bool is_destroy, no_refresh, refresh_only, save_plan, allow_empty_apply, allow_config_generation;
	bool debugging_mode;         /* the engine logs at debug level */
	bool plain_log;              /* the client can't render terraform's JSON lines */
	const json_t *target_addrs;  /* an array of texts, or NULL */
	const json_t *replace_addrs; /* an array of texts, or NULL, as the next two */
	const json_t *policy_paths;  /* policy sets in the configuration, which the run shows */
	const json_t *invoke_action_addrs;
	const json_t *variables;       /* an array of {key, value}, or NULL */
	const char *terraform_version; /* NULL: the workspace's */
};

struct run_creation {
	const struct run_create_params *order;
	struct id run;  /* filled in */
	struct err err; /* filled in: ERR_NOT_FOUND: no such workspace; ERR_INVALID with a pointer: invalid order */
};

/*
 * Creates runs at the ends of their workspaces' queues, and starts those whose turn it is. It uses one transaction, or
 * the open one. Returns -1 only if no run was created: an invalid order does not affect the others.
 */
int run_creations_apply(struct store *store, struct run_creation *creations, size_t count, struct err *err);
/* The same, but skips workspaces that another transaction holds locked. The error of the skipped ones is
 * ERR_UNAVAILABLE. */
int run_creations_apply_ready(struct store *store, struct run_creation *creations, size_t count, struct err *err);
/* Creates one run. */
int run_create(struct store *store, const struct run_create_params *order, struct id *ret_id, struct err *err);

#endif
