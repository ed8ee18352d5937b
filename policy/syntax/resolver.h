/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_RESOLVER_H
#define POLICY_SYNTAX_RESOLVER_H

/* Fills in the variable of each name in a parsed tree, and refuses what no run can do: assignments to imports, names
 * that clash, a policy without `main`. */

#include "policy/syntax/tree.h"

void resolver_run(struct run *run, struct tree *tree, enum tree_role role);

#endif
