/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_OPA_ANSWER_H
#define WORKER_POLICY_OPA_ANSWER_H

/*
 * What `opa eval --format json` says of a policy's query. Pure.
 *
 * HCP's rule: a query must give an array (a set is one in JSON); the policy has passed if it is empty, and what stands
 * in it are the violations. Everything else is errored and never passed: a query that is undefined (a rule that is
 * misspelled, or does not hold), a boolean, an object. Where a query has several expressions or several results, all of
 * them count.
 */

#include "worker/policy/evaluator.h"

/* Fills verdict, reason and the violations, as texts. */
void opa_answer_read(const struct evaluated *evaluated, struct judgement *ret_judgement);
/* True if the answer is that the policies can't be parsed: perhaps they are written for OPA before version 1. */
bool opa_answer_unparsed(const struct evaluated *evaluated);

#endif
