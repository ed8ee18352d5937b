/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_SYNTAX_FORMAT_FORMAT_H
#define POLICY_SYNTAX_FORMAT_FORMAT_H

/*
 * Formatted source: tabs, one statement a line, spaces around operators, brackets only where the tree needs them. It
 * parses to the same tree.
 *
 * Kept from the source: comments, single empty lines, how literals and operators are written, and the line breaks
 * behind binary operators and behind the brackets of lists, maps, calls, rules and quantifiers.
 */

#include "policy/core/output.h"
#include "policy/syntax/tree.h"

/* Adds to the output. */
void format_tree(struct run *run, const struct tree *tree, struct output *output);

#endif
