/* SPDX-License-Identifier: MPL-2.0 */
/* A change of a resource: what is applied, and the diff with flat keys. */
#include <stdio.h>
#include <string.h>

#include "common/terraform/v1/v1.h"

/* The attributes of one side of a change. */
struct flat {
	const struct v1 *v1;
	struct tree_value texts;   /* by key: what the attribute is, as a string */
	struct tree_value unknown; /* by key: true if it is not known yet */
	struct tree_value before;  /* the attributes before the change */
	struct tree_value schema;  /* of the resource's type, or none */
};

static void flatten(const struct flat *flat, struct tree_text key, struct tree_value value, struct tree_value unknown);

/* ---- types ---- */

static struct tree_value schema_of(const struct v1 *v1, struct tree_value resource)
{
	const struct tree *tree = &v1->tree;
	const bool data = tree_same(tree_text_at(tree, resource, "mode"), tree_literal("data"));
	struct tree_value at = tree_at(tree, v1->schemas, "provider_schemas");

	if (!tree_is(tree, at, TREE_MAP))
		return tree_none;
	at = tree->class->get(tree->owner, at, tree_text_at(tree, resource, "provider_name"));
	at = tree_at(tree, at, data ? "data_source_schemas" : "resource_schemas");
	if (!tree_is(tree, at, TREE_MAP))
		return tree_none;
	return tree_at(tree, tree->class->get(tree->owner, at, tree_text_at(tree, resource, "type")), "block");
}

static bool is_one_of(struct tree_text word, const char *const *words)
{
	while (*words && !tree_same(word, tree_literal(*words)))
		words++;
	return *words != NULL;
}

/* The end of the key of an unknown attribute with that type or nesting mode. */
static const char *ending(struct tree_text word)
{
	static const char *const lists[] = {"list", "set", "tuple", NULL};
	static const char *const maps[] = {"map", "object", "single", "group", NULL};

	if (is_one_of(word, lists))
		return "#";
	return is_one_of(word, maps) ? "%" : "";
}

/* The first word of a type: "string", ["list", "string"]. */
static struct tree_text type_word(const struct tree *tree, struct tree_value type)
{
	struct tree_walk walk = tree_walk(tree, type);

	return tree_scalar(tree, tree_is(tree, type, TREE_LIST) && tree_next(tree, &walk) ? walk.element : type);
}

static struct tree_value member(const struct tree *tree, struct tree_value map, const char *name, struct tree_text key)
{
	struct tree_value inner = tree_at(tree, map, name);

	return tree_is(tree, inner, TREE_MAP) ? tree->class->get(tree->owner, inner, key) : tree_none;
}

/* By the schema, or else by the value before the change. */
static const char *ending_of(const struct flat *flat, struct tree_text name)
{
	const struct tree *tree = &flat->v1->tree;
	struct tree_value attribute = member(tree, flat->schema, "attributes", name);
	struct tree_value block = member(tree, flat->schema, "block_types", name);
	struct tree_value before;

	if (tree_is(tree, attribute, TREE_MAP)) {
		struct tree_value nested = tree_at(tree, attribute, "nested_type");

		return ending(tree_is(tree, nested, TREE_MAP) ? tree_text_at(tree, nested, "nesting_mode")
							      : type_word(tree, tree_at(tree, attribute, "type")));
	}
	if (tree_is(tree, block, TREE_MAP))
		return ending(tree_text_at(tree, block, "nesting_mode"));
	before = tree_is(tree, flat->before, TREE_MAP) ? tree->class->get(tree->owner, flat->before, name) : tree_none;
	return tree_is(tree, before, TREE_LIST) ? "#" : tree_is(tree, before, TREE_MAP) ? "%" : "";
}

/* ---- flat keys ---- */

static bool is_true(const struct tree *tree, struct tree_value value)
{
	return tree_is(tree, value, TREE_BOOL) && tree->class->truth(value);
}

static struct tree_text inner_key(const struct tree *tree, struct tree_text key, struct tree_text part)
{
	return key.len > 0 ? tree_join(tree, key, ".", part) : part;
}

static struct tree_text number_text(const struct tree *tree, size_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", number);
	return tree->class->join(tree->owner, tree_literal(text), tree_literal(""));
}

static void put(const struct flat *flat, struct tree_text key, struct tree_text text)
{
	const struct tree *tree = &flat->v1->tree;

	tree->class->set(tree->owner, flat->texts, key, tree->class->string(tree->owner, text));
}

static void put_unknown(const struct flat *flat, struct tree_text key)
{
	const struct tree *tree = &flat->v1->tree;

	put(flat, key, tree_literal(""));
	tree->class->set(tree->owner, flat->unknown, key, tree->class->flag(tree->owner, true));
}

/* The number of a container's elements. It is not known if one of them is not. */
static void put_count(
	const struct flat *flat, struct tree_text key, const char *end, size_t count, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;
	struct tree_walk walk = tree_walk(tree, unknown);

	if (key.len == 0)
		return;
	key = inner_key(tree, key, tree_literal(end));
	while (tree_next(tree, &walk))
		if (is_true(tree, walk.element)) {
			put_unknown(flat, key);
			return;
		}
	put(flat, key, number_text(tree, count));
}

static void flatten_map(
	const struct flat *flat, struct tree_text key, struct tree_value value, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;
	const bool in_part = tree_is(tree, unknown, TREE_MAP), there = tree_is(tree, value, TREE_MAP);
	struct tree_walk walk = tree_walk(tree, value), rest = tree_walk(tree, in_part ? unknown : tree_none);

	put_count(flat, key, "%", there ? tree->class->count(value) : 0, unknown);
	while (tree_next(tree, &walk))
		flatten(flat, inner_key(tree, key, walk.key), walk.element,
			in_part ? tree->class->get(tree->owner, unknown, walk.key) : tree_none);
	while (tree_next(tree, &rest))
		if (!there || tree_is(tree, tree->class->get(tree->owner, value, rest.key), TREE_NONE))
			flatten(flat, inner_key(tree, key, rest.key), tree_none, rest.element);
}

static void flatten_list(
	const struct flat *flat, struct tree_text key, struct tree_value value, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;
	struct tree_walk walk = tree_walk(tree, value);
	struct tree_walk rest = tree_walk(tree, tree_is(tree, unknown, TREE_LIST) ? unknown : tree_none);
	size_t count = 0;

	for (;; count++) {
		const bool there = tree_next(tree, &walk), in_part = tree_next(tree, &rest);

		if (!there && !in_part)
			break;
		flatten(flat, inner_key(tree, key, number_text(tree, count)), there ? walk.element : tree_none,
			in_part ? rest.element : tree_none);
	}
	put_count(flat, key, "#", count, unknown);
}

/* What is flattened: an absent value has the shape of what is not known of it. */
static enum tree_kind shape_of(const struct tree *tree, struct tree_value value, struct tree_value unknown)
{
	enum tree_kind kind = tree->class->kind(value), other = tree->class->kind(unknown);

	if (kind == TREE_NONE && (other == TREE_MAP || other == TREE_LIST) && tree->class->count(unknown) > 0)
		return other;
	return kind;
}

static void flatten_shape(
	const struct flat *flat, struct tree_text key, struct tree_value value, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;

	switch (shape_of(tree, value, unknown)) {
	case TREE_MAP:
		flatten_map(flat, key, value, unknown);
		break;
	case TREE_LIST:
		flatten_list(flat, key, value, unknown);
		break;
	case TREE_NONE:
		break;
	default:
		put(flat, key, tree_scalar(tree, value));
	}
}

static void flatten(const struct flat *flat, struct tree_text key, struct tree_value value, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;

	tree->class->enter(tree->owner);
	if (is_true(tree, unknown))
		put_unknown(flat, key);
	else
		flatten_shape(flat, key, value, unknown);
	tree->class->leave(tree->owner);
}

/* The attributes of a resource: only of them the schema is looked up. */
static void flatten_attributes(const struct flat *flat, struct tree_value value, struct tree_value unknown)
{
	const struct tree *tree = &flat->v1->tree;
	struct tree_walk walk = tree_walk(tree, tree_is(tree, unknown, TREE_MAP) ? unknown : tree_none);
	struct tree_value in_part = tree->class->map(tree->owner);

	while (tree_next(tree, &walk)) {
		const char *end = is_true(tree, walk.element) ? ending_of(flat, walk.key) : NULL;

		if (!end)
			tree->class->set(tree->owner, in_part, walk.key, walk.element);
		else
			put_unknown(flat, *end ? tree_join(tree, walk.key, ".", tree_literal(end)) : walk.key);
	}
	flatten(flat, tree_literal(""), value, in_part);
}

static struct flat flat_new(const struct v1 *v1, struct tree_value before, struct tree_value schema)
{
	const struct tree *tree = &v1->tree;

	return (struct flat){.v1 = v1,
		.texts = tree->class->map(tree->owner),
		.unknown = tree->class->map(tree->owner),
		.before = before,
		.schema = schema};
}

/* ---- the diff ---- */

static struct tree_value entry(const struct tree *tree, bool computed, struct tree_value new, struct tree_value old)
{
	struct tree_value map = tree->class->map(tree->owner);

	tree_set(tree, map, "computed", tree->class->flag(tree->owner, computed));
	tree_set(tree, map, "new", new);
	tree_set(tree, map, "old", old);
	return map;
}

/* All keys of a resource that is created or deleted, else those that change. */
static struct tree_value diff_of(const struct flat *old, const struct flat *new, bool whole)
{
	const struct tree *tree = &old->v1->tree;
	struct tree_value diff = tree->class->map(tree->owner);
	struct tree_value none = tree->class->string(tree->owner, tree_literal(""));
	struct tree_walk walk = tree_walk(tree, new->texts), rest = tree_walk(tree, old->texts);

	while (tree_next(tree, &walk)) {
		struct tree_value before = tree->class->get(tree->owner, old->texts, walk.key);
		const bool computed = !tree_is(tree, tree->class->get(tree->owner, new->unknown, walk.key), TREE_NONE);

		if (tree_is(tree, before, TREE_NONE))
			before = none;
		if (whole || computed || !tree_same(tree->class->text(before), tree->class->text(walk.element)))
			tree->class->set(tree->owner, diff, walk.key, entry(tree, computed, walk.element, before));
	}
	while (tree_next(tree, &rest))
		if (tree_is(tree, tree->class->get(tree->owner, new->texts, rest.key), TREE_NONE) &&
			(whole || tree->class->text(rest.element).len > 0))
			tree->class->set(tree->owner, diff, rest.key, entry(tree, false, none, rest.element));
	return diff;
}

static bool has_action(const struct tree *tree, struct tree_value actions, const char *action)
{
	struct tree_walk walk = tree_walk(tree, actions);

	while (tree_next(tree, &walk))
		if (tree_is(tree, walk.element, TREE_STRING) &&
			tree_same(tree->class->text(walk.element), tree_literal(action)))
			return true;
	return false;
}

struct tree_value v1_change(const struct v1 *v1, struct tree_value resource)
{
	const struct tree *tree = &v1->tree;
	struct tree_value change = tree_at(tree, resource, "change"), actions = tree_at(tree, change, "actions");
	struct tree_value before = tree_at(tree, change, "before"), after = tree_at(tree, change, "after");
	const bool created = !tree_is(tree, before, TREE_MAP), deleted = !tree_is(tree, after, TREE_MAP);
	const bool destroy = has_action(tree, actions, "delete");
	struct flat old = flat_new(v1, before, tree_none), new = flat_new(v1, before, schema_of(v1, resource));
	struct tree_value made = tree->class->map(tree->owner);

	flatten(&old, tree_literal(""), created ? tree_none : before, tree_none);
	flatten_attributes(
		&new, deleted ? tree_none : after, deleted ? tree_none : tree_at(tree, change, "after_unknown"));
	if (!deleted)
		tree_set(tree, made, "applied", after);
	tree_set(tree, made, "destroy", tree->class->flag(tree->owner, destroy));
	tree_set(tree, made, "diff", diff_of(&old, &new, created || deleted));
	tree_set(tree, made, "requires_new",
		tree->class->flag(tree->owner, destroy && has_action(tree, actions, "create")));
	return made;
}
