/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include "common/buf.h"
#include "worker/policy/sets.h"

/*
 * Makes the sentinel.hcl of an evaluation by the program of --sentinel: the set's own modules and policies without its
 * mocks and tests, then the mocks of the run and the set's parameters. `mock_folder` is the mocks' folder relative to
 * the file. Pure. -1: over the buffer's limit.
 */
int sentinel_config(const struct policy_set *set, const char *mock_folder, struct buf *out);
/* The same for runyard-policy: the set's own text, in which spaces replace the blocks that are left out, so that lines
 * in messages are those of the set's file; then the set's parameters, of which true and false are no texts. */
int sentinel_config_own(const struct policy_set *set, struct buf *out);

#endif
