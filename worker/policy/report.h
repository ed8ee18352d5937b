/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_REPORT_H
#define WORKER_POLICY_REPORT_H

/* What came of the policies of a run, for the scheduler (proto/README, Policies) and for people. Pure. */

#include "proto/messages.h"
#include "worker/policy/evaluator.h"

struct redactor;

enum {
	POLICY_OUTPUT_KEPT = 64 * 1024, /* of what one policy says; the rest is cut, with a note */
	POLICY_PRINT_MOST = 512 * 1024, /* a policy that prints more is stopped */
};

/* Adds a policy's outcome to its set. */
void report_add(struct policy_set *set, const struct policy *policy, const struct judgement *judgement,
	const struct redactor *redactor);
/* The body of PUT policy-results. A new reference. */
json_t *report_document(const struct policy_sets *sets, const struct evaluator *evaluator);
/* How the stage ends, with a sentence unless all passed. What is errored counts as failed at its level; a set that
 * can't be evaluated counts at the strictest level, since nobody knows what it would have said. */
enum outcome report_conclude(
	const struct policy_sets *sets, const struct evaluator *evaluator, char *ret_sentence, size_t size);
/* How many policies have that status. */
size_t report_count(const struct policy_sets *sets, const char *status);

/* The text with what is no UTF-8, and what no terminal should get, replaced by '?'. The caller frees it. */
char *text_clean(const char *bytes, size_t len);
/* The lines of a text as an array of texts, empty ones left out at its ends. A new reference. */
json_t *text_trimmed(const char *text);

#endif
