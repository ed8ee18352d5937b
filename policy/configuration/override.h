/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_OVERRIDE_H
#define POLICY_CONFIGURATION_OVERRIDE_H

/* Files that change the blocks of other configuration files: override.hcl and *_override.hcl, or .json. */

#include "policy/configuration/hcl.h"

/* True if the path has the name of such a file. */
bool override_is(const char *path);

/* Gives the block of the same type and labels in the body the attributes and nested blocks of `by`, in place of its own
 * ones of these names. A block `test` is added instead. False if there is no such block. */
bool override_block(struct run *run, struct hcl_body *body, const struct hcl_block *by);

#endif
