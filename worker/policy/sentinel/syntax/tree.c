/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/syntax/tree.h"

#include <string.h>

#include "worker/policy/sentinel/syntax/parser.h"

#define OPERATOR(name, text) text,
const char *const operator_texts[] = {
	"",
#include "worker/policy/sentinel/syntax/operators.def"
};
#undef OPERATOR

struct tree *tree_parse(struct run *run, const struct source *source, enum tree_role role)
{
	bool loading = run->loading;
	struct place at = run->at;
	struct tree *tree;

	run->loading = true;
	tree = parser_run(run, source, role);
	run->loading = loading;
	run->at = at;
	return tree;
}

bool tree_variable(const struct tree *tree, const char *name, size_t len, uint32_t *ret_slot)
{
	for (uint32_t i = 0; i < tree->scope.count; i++) {
		if (tree->scope.names[i].len == len && memcmp(tree->scope.names[i].bytes, name, len) == 0) {
			*ret_slot = i;
			return true;
		}
	}
	return false;
}
