/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CORE_OUTPUT_H
#define POLICY_CORE_OUTPUT_H

/* Text of the arena that grows while it is written. A zeroed struct is empty. Counts steps. */

#include <stddef.h>

#include "policy/core/run.h"

struct output {
	char *bytes; /* not terminated; NULL if nothing was added */
	size_t len, capacity;
};

/* Fails if it would be longer than MAX_STRING. */
void output_add(struct run *run, struct output *output, const char *bytes, size_t len);
void output_text(struct run *run, struct output *output, const char *text);

#endif
