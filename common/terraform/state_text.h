/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_STATE_TEXT_H
#define COMMON_TERRAFORM_STATE_TEXT_H

#include "common/buf.h"

/*
 * Edits terraform's state files as text. All other bytes stay as they are: numbers in states are unbounded, so they
 * must not be parsed and written again. No I/O.
 */

/* Appends the state with another serial. -1 if it has no serial, or if the buffer's limit would be exceeded. */
int state_renumber(const char *state, size_t len, long long serial, struct buf *out);
/* The same with another lineage, which must need no escapes. -1 if it has none. */
int state_relineage(const char *state, size_t len, const char *lineage, struct buf *out);

#endif
