/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_POLICY_H
#define WORKER_STAGE_POLICY_H

/*
 * The stages `opa` and `sentinel`. They evaluate each policy of the run's policy sets on the plan, one after another,
 * each in a program of its own (policy/evaluator.h). Their log is not an engine's log: the scheduler gets the outcomes
 * only by PUT policy-results.
 */

struct policy_stage;

void policy_stage_free(struct policy_stage *stage);

#endif
