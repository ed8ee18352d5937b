/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_OPA_ANSWER_H
#define WORKER_POLICY_OPA_ANSWER_H

/*
 * Interprets the output of `opa eval --format json` for a policy's query. Pure.
 *
 * The rule is HCP's:
 *  - The query must give an array (a set is an array in JSON). An empty array means passed; otherwise its elements are
 *    the violations.
 *  - Any other value is errored and never passed: an undefined query (a rule that is misspelled or does not hold), a
 *    boolean, an object.
 *  - If a query has several expressions or several results, all of them count.
 */

#include "worker/policy/evaluator.h"

/* Fills the verdict, the reason and the violations as texts. */
void opa_answer_read(const struct evaluated *evaluated, struct judgement *ret_judgement);
/* True if OPA can't parse the policies. They may be written for OPA before version 1. */
bool opa_answer_unparsed(const struct evaluated *evaluated);

#endif
