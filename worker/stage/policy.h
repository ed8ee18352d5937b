/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_POLICY_H
#define WORKER_STAGE_POLICY_H

/*
 * The stages `opa` and `sentinel`: each policy of the sets that apply to the run is evaluated on its plan, one after
 * another, each by a program of its own (policy/evaluator.h). Their log is no engine's log: what came of them goes to
 * the scheduler by PUT policy-results alone.
 */

struct policy_stage;

void policy_stage_free(struct policy_stage *stage);

#endif
