/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_OUTPUT_H
#define POLICY_CORE_OUTPUT_H

/* Text that grows while it is written. Counts steps. */

#include "policy/core/run.h"

/* Fails if it would be longer than MAX_STRING. */
void output_add(struct run *run, struct output *output, const char *bytes, size_t len);
void output_text(struct run *run, struct output *output, const char *text);

/* Adds to what the policy printed. Fails at MAX_PRINTED. */
void run_print(struct run *run, const char *bytes, size_t len);

#endif
