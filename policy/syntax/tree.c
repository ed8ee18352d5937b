/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/syntax/tree.h"

#include <string.h>

#define OPERATOR(name, text) text,
const char *const operator_texts[] = {
	"",
#include "policy/syntax/operators.def"
};
#undef OPERATOR

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
