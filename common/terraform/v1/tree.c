/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree_text tree_literal(const char *text)
{
	return (struct tree_text){.bytes = text, .len = strlen(text)};
}

bool tree_same(struct tree_text a, struct tree_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

struct tree_value tree_at(const struct tree *tree, struct tree_value map, const char *name)
{
	return tree_is(tree, map, TREE_MAP) ? tree->class->get(tree->owner, map, tree_literal(name)) : tree_none;
}

struct tree_value tree_path(const struct tree *tree, struct tree_value map, const char *path)
{
	while (*path && tree_is(tree, map, TREE_MAP)) {
		const size_t len = strcspn(path, ".");

		map = tree->class->get(tree->owner, map, (struct tree_text){.bytes = path, .len = len});
		path += len + (path[len] == '.');
	}
	return *path ? tree_none : map;
}

struct tree_text tree_text_at(const struct tree *tree, struct tree_value map, const char *name)
{
	struct tree_value member = tree_at(tree, map, name);

	return tree_is(tree, member, TREE_STRING) ? tree->class->text(member) : tree_literal("");
}

struct tree_walk tree_walk(const struct tree *tree, struct tree_value of)
{
	struct tree_walk walk = {.of = of};

	if (tree_is(tree, of, TREE_LIST) || tree_is(tree, of, TREE_MAP))
		tree->class->begin(tree->owner, &walk);
	else
		walk.of = tree_none;
	return walk;
}

bool tree_next(const struct tree *tree, struct tree_walk *walk)
{
	return !tree_is(tree, walk->of, TREE_NONE) && tree->class->next(tree->owner, walk);
}

void tree_set(const struct tree *tree, struct tree_value map, const char *name, struct tree_value value)
{
	tree->class->set(tree->owner, map, tree_literal(name), value);
}

struct tree_text tree_join(const struct tree *tree, struct tree_text a, const char *separator, struct tree_text b)
{
	return tree->class->join(tree->owner, tree->class->join(tree->owner, a, tree_literal(separator)), b);
}

struct tree_text tree_scalar(const struct tree *tree, struct tree_value value)
{
	switch (tree->class->kind(value)) {
	case TREE_STRING:
		return tree->class->text(value);
	case TREE_NUMBER:
		return tree->class->number(tree->owner, value);
	case TREE_BOOL:
		return tree_literal(tree->class->truth(value) ? "true" : "false");
	default:
		return tree_literal("");
	}
}

struct tree_value tree_inner(const struct tree *tree, struct tree_value map, struct tree_text key)
{
	struct tree_value inner = tree->class->get(tree->owner, map, key);

	if (tree_is(tree, inner, TREE_MAP))
		return inner;
	inner = tree->class->map(tree->owner);
	tree->class->set(tree->owner, map, key, inner);
	return inner;
}

/* Seventeen digits always read back as the same number. */
void tree_real_text(char text[TREE_NUMBER_TEXT], double real)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, TREE_NUMBER_TEXT, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			break;
	}
}
