/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SENTINEL_SYNTAX_RESOLVER_H
#define WORKER_POLICY_SENTINEL_SYNTAX_RESOLVER_H

/* Fills in the variable of each name in a parsed tree, and refuses what no run can do: assignments to imports, names
 * that clash, a policy without `main`. */

#include "worker/policy/sentinel/syntax/tree.h"

void resolver_run(struct run *run, struct tree *tree, enum tree_role role);

#endif
