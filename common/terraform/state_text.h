/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_STATE_TEXT_H
#define COMMON_TERRAFORM_STATE_TEXT_H

#include "common/buf.h"

/*
 * terraform's state files as text: what is changed in them leaves every other byte as it was, since numbers in states
 * have no bound and are not read and written again. No I/O.
 */

/* Appends the state with another serial. -1 if it has no serial, or over the buffer's limit. */
int state_renumber(const char *state, size_t len, long long serial, struct buf *out);
/* The same with another lineage, which needs no escaping. -1 if it has none. */
int state_relineage(const char *state, size_t len, const char *lineage, struct buf *out);

#endif
