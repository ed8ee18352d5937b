/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICY_RUNS_H
#define SCHEDULER_STORE_POLICY_RUNS_H

/* The policies of a run: what applies to it is taken when it is made, evaluated by a worker, and kept with its results.
 */

#include "common/ids.h"
#include "scheduler/store/store.h"

/* Makes the evaluations of a new run, one for each kind of policy set that applies to its workspace, and returns the
 * STAGE_BITs of their stages. In the transaction that creates the run. */
int policy_runs_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err);
/* What a worker is to evaluate (proto/README.md, Policies): a new reference. `kind` is "opa" or "sentinel". */
int policy_run_bundle(struct store *store, const char *run_id, const char *kind, json_t **ret_bundle, struct err *err);
/* Keeps what came of it. ERR_INVALID for a document of another form. */
int policy_run_results(
	struct store *store, const char *run_id, const char *kind, const json_t *results, struct err *err);

/* What policies may read of the run beside its plan: a new reference, JSON null if there is no such run. */
int policy_run_facts(struct store *store, const char *run_id, json_t **ret_run, struct err *err);

#endif
