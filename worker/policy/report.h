/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_REPORT_H
#define WORKER_POLICY_REPORT_H

/* Reports the results of a run's policies to the scheduler (proto/README, Policies) and to users. Pure. */

#include "proto/messages.h"
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"

struct redactor;

enum {
	POLICY_OUTPUT_KEPT = 64 * 1024, /* bytes kept of one policy's output; the rest is cut, with a note */
	MAX_POLICY_PRINT = 512 * 1024,  /* a policy that prints more bytes is stopped */
};

/* Adds a policy's outcome to its set. */
void report_add(struct policy_set *set, const struct policy *policy, const struct judgement *judgement,
	const struct redactor *redactor);
/* The body of PUT policy-results. A new reference. */
json_t *report_document(const struct policy_sets *sets, const struct evaluator *evaluator);
/* Decides how the stage ends, with a message unless all policies passed. An errored policy counts as failed at its
 * level. A set that can't be evaluated counts as failed at the strictest level, because the outcome of its policies
 * is unknown. */
enum outcome report_conclude(
	const struct policy_sets *sets, const struct evaluator *evaluator, char *ret_sentence, size_t size);
/* The number of policies with that status. */
size_t report_count(const struct policy_sets *sets, const char *status);

/* The text with invalid UTF-8 and characters that are unsafe for terminals replaced by '?'. The caller frees it. */
char *text_clean(const char *bytes, size_t len);
/* The lines of a text as an array of texts, without leading and trailing empty lines. A new reference. */
json_t *text_trimmed(const char *text);

#endif
