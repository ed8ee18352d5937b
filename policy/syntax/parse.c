/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/parser.h"
#include "policy/syntax/resolver.h"

struct tree *tree_parse(struct run *run, const struct source *source, enum tree_role role)
{
	bool loading = run->loading;
	struct place at = run->at;
	struct tree *tree;

	run->loading = true;
	tree = parser_run(run, source, role);
	resolver_run(run, tree, role);
	run->loading = loading;
	run->at = at;
	return tree;
}
