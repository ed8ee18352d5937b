/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICY_RUNS_H
#define SCHEDULER_STORE_POLICIES_POLICY_RUNS_H

/* Policies of a run. The policy sets that apply are copied when the run is created. A worker evaluates them, and the
 * copy is stored with the results. */

#include "common/ids.h"
#include "scheduler/store/store.h"

/* Creates the evaluations of a new run, one for each kind of policy set that applies to its workspace. Returns the
 * STAGE_BITs of their stages. Call it in the transaction that creates the run. */
int policy_runs_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err);
/* The policies that a worker evaluates (proto/README.md, Policies): a new reference. `kind` is "opa" or "sentinel". */
int policy_run_bundle(struct store *store, const char *run_id, const char *kind, json_t **ret_bundle, struct err *err);
/* Stores the results. ERR_INVALID for a malformed document. */
int policy_run_results(
	struct store *store, const char *run_id, const char *kind, const json_t *results, struct err *err);

/* The data about the run that policies may read in addition to its plan: a new reference, JSON null if there is no such
 * run. */
int policy_run_facts(struct store *store, const char *run_id, json_t **ret_run, struct err *err);

/* The sealed value of a parameter in an evaluation's bundle. -1 if it is no base64. */
int policy_parameter_sealed(const json_t *parameter, struct buf *ret_sealed);

#endif
