/* SPDX-License-Identifier: MPL-2.0 */
/* A change of a resource: what is applied, and the diff with flat keys. */
#include <stdio.h>
#include <string.h>

#include "common/terraform/v1/v1.h"

/* The attributes of one side of a change. */
struct flat {
	const struct v1 *v1;
	struct doc_value texts;   /* by key: what the attribute is, as a string */
	struct doc_value unknown; /* by key: true if it is not known yet */
	struct doc_value before;  /* the attributes before the change */
	struct doc_value schema;  /* of the resource's type, or none */
};

static void flatten(const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown);

/* ---- types ---- */

static struct doc_value schema_of(const struct v1 *v1, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	const bool data = doc_same(doc_text_at(doc, resource, "mode"), doc_literal("data"));
	struct doc_value at = doc_at(doc, v1->schemas, "provider_schemas");

	if (!doc_is(doc, at, DOC_MAP))
		return doc_none;
	at = doc->class->get(doc->owner, at, doc_text_at(doc, resource, "provider_name"));
	at = doc_at(doc, at, data ? "data_source_schemas" : "resource_schemas");
	if (!doc_is(doc, at, DOC_MAP))
		return doc_none;
	return doc_at(doc, doc->class->get(doc->owner, at, doc_text_at(doc, resource, "type")), "block");
}

static bool is_one_of(struct doc_text word, const char *const *words)
{
	while (*words && !doc_same(word, doc_literal(*words)))
		words++;
	return *words != NULL;
}

/* The end of the key of an unknown attribute with that type or nesting mode. */
static const char *ending(struct doc_text word)
{
	static const char *const lists[] = {"list", "set", "tuple", NULL};
	static const char *const maps[] = {"map", "object", "single", "group", NULL};

	if (is_one_of(word, lists))
		return "#";
	return is_one_of(word, maps) ? "%" : "";
}

/* The first word of a type: "string", ["list", "string"]. */
static struct doc_text type_word(const struct doc *doc, struct doc_value type)
{
	struct doc_walk walk = doc_walk(doc, type);

	return doc_scalar(doc, doc_is(doc, type, DOC_LIST) && doc_next(doc, &walk) ? walk.element : type);
}

static struct doc_value member(const struct doc *doc, struct doc_value map, const char *name, struct doc_text key)
{
	struct doc_value inner = doc_at(doc, map, name);

	return doc_is(doc, inner, DOC_MAP) ? doc->class->get(doc->owner, inner, key) : doc_none;
}

/* By the schema, or else by the value before the change. */
static const char *ending_of(const struct flat *flat, struct doc_text name)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_value attribute = member(doc, flat->schema, "attributes", name);
	struct doc_value block = member(doc, flat->schema, "block_types", name);
	struct doc_value before;

	if (doc_is(doc, attribute, DOC_MAP)) {
		struct doc_value nested = doc_at(doc, attribute, "nested_type");

		return ending(doc_is(doc, nested, DOC_MAP) ? doc_text_at(doc, nested, "nesting_mode")
							   : type_word(doc, doc_at(doc, attribute, "type")));
	}
	if (doc_is(doc, block, DOC_MAP))
		return ending(doc_text_at(doc, block, "nesting_mode"));
	before = doc_is(doc, flat->before, DOC_MAP) ? doc->class->get(doc->owner, flat->before, name) : doc_none;
	return doc_is(doc, before, DOC_LIST) ? "#" : doc_is(doc, before, DOC_MAP) ? "%" : "";
}

/* ---- flat keys ---- */

static bool is_true(const struct doc *doc, struct doc_value value)
{
	return doc_is(doc, value, DOC_BOOL) && doc->class->truth(value);
}

static struct doc_text inner_key(const struct doc *doc, struct doc_text key, struct doc_text part)
{
	return key.len > 0 ? doc_join(doc, key, ".", part) : part;
}

static struct doc_text number_text(const struct doc *doc, size_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", number);
	return doc->class->join(doc->owner, doc_literal(text), doc_literal(""));
}

static void put(const struct flat *flat, struct doc_text key, struct doc_text text)
{
	const struct doc *doc = &flat->v1->doc;

	doc->class->set(doc->owner, flat->texts, key, doc->class->string(doc->owner, text));
}

static void put_unknown(const struct flat *flat, struct doc_text key)
{
	const struct doc *doc = &flat->v1->doc;

	put(flat, key, doc_literal(""));
	doc->class->set(doc->owner, flat->unknown, key, doc->class->flag(doc->owner, true));
}

/* The number of a container's elements. It is not known if one of them is not. */
static void put_count(
	const struct flat *flat, struct doc_text key, const char *end, size_t count, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_walk walk = doc_walk(doc, unknown);

	if (key.len == 0)
		return;
	key = inner_key(doc, key, doc_literal(end));
	while (doc_next(doc, &walk))
		if (is_true(doc, walk.element)) {
			put_unknown(flat, key);
			return;
		}
	put(flat, key, number_text(doc, count));
}

static void flatten_map(const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;
	const bool in_part = doc_is(doc, unknown, DOC_MAP), there = doc_is(doc, value, DOC_MAP);
	struct doc_walk walk = doc_walk(doc, value), rest = doc_walk(doc, in_part ? unknown : doc_none);

	put_count(flat, key, "%", there ? doc->class->count(value) : 0, unknown);
	while (doc_next(doc, &walk))
		flatten(flat, inner_key(doc, key, walk.key), walk.element,
			in_part ? doc->class->get(doc->owner, unknown, walk.key) : doc_none);
	while (doc_next(doc, &rest))
		if (!there || doc_is(doc, doc->class->get(doc->owner, value, rest.key), DOC_NONE))
			flatten(flat, inner_key(doc, key, rest.key), doc_none, rest.element);
}

static void flatten_list(const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_walk walk = doc_walk(doc, value);
	struct doc_walk rest = doc_walk(doc, doc_is(doc, unknown, DOC_LIST) ? unknown : doc_none);
	size_t count = 0;

	for (;; count++) {
		const bool there = doc_next(doc, &walk), in_part = doc_next(doc, &rest);

		if (!there && !in_part)
			break;
		flatten(flat, inner_key(doc, key, number_text(doc, count)), there ? walk.element : doc_none,
			in_part ? rest.element : doc_none);
	}
	put_count(flat, key, "#", count, unknown);
}

/* What is flattened: an absent value has the shape of what is not known of it. */
static enum doc_kind shape_of(const struct doc *doc, struct doc_value value, struct doc_value unknown)
{
	enum doc_kind kind = doc->class->kind(value), other = doc->class->kind(unknown);

	if (kind == DOC_NONE && (other == DOC_MAP || other == DOC_LIST) && doc->class->count(unknown) > 0)
		return other;
	return kind;
}

static void flatten_shape(
	const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;

	switch (shape_of(doc, value, unknown)) {
	case DOC_MAP:
		flatten_map(flat, key, value, unknown);
		break;
	case DOC_LIST:
		flatten_list(flat, key, value, unknown);
		break;
	case DOC_NONE:
		break;
	default:
		put(flat, key, doc_scalar(doc, value));
	}
}

static void flatten(const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;

	doc->class->enter(doc->owner);
	if (is_true(doc, unknown))
		put_unknown(flat, key);
	else
		flatten_shape(flat, key, value, unknown);
	doc->class->leave(doc->owner);
}

/* The attributes of a resource: only of them the schema is looked up. */
static void flatten_attributes(const struct flat *flat, struct doc_value value, struct doc_value unknown)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_walk walk = doc_walk(doc, doc_is(doc, unknown, DOC_MAP) ? unknown : doc_none);
	struct doc_value in_part = doc->class->map(doc->owner);

	while (doc_next(doc, &walk)) {
		const char *end = is_true(doc, walk.element) ? ending_of(flat, walk.key) : NULL;

		if (!end)
			doc->class->set(doc->owner, in_part, walk.key, walk.element);
		else
			put_unknown(flat, *end ? doc_join(doc, walk.key, ".", doc_literal(end)) : walk.key);
	}
	flatten(flat, doc_literal(""), value, in_part);
}

static struct flat flat_new(const struct v1 *v1, struct doc_value before, struct doc_value schema)
{
	const struct doc *doc = &v1->doc;

	return (struct flat){.v1 = v1,
		.texts = doc->class->map(doc->owner),
		.unknown = doc->class->map(doc->owner),
		.before = before,
		.schema = schema};
}

/* ---- the diff ---- */

static struct doc_value entry(const struct doc *doc, bool computed, struct doc_value new, struct doc_value old)
{
	struct doc_value map = doc->class->map(doc->owner);

	doc_set(doc, map, "computed", doc->class->flag(doc->owner, computed));
	doc_set(doc, map, "new", new);
	doc_set(doc, map, "old", old);
	return map;
}

/* All keys of a resource that is created or deleted, else those that change. */
static struct doc_value diff_of(const struct flat *old, const struct flat *new, bool whole)
{
	const struct doc *doc = &old->v1->doc;
	struct doc_value diff = doc->class->map(doc->owner);
	struct doc_value none = doc->class->string(doc->owner, doc_literal(""));
	struct doc_walk walk = doc_walk(doc, new->texts), rest = doc_walk(doc, old->texts);

	while (doc_next(doc, &walk)) {
		struct doc_value before = doc->class->get(doc->owner, old->texts, walk.key);
		const bool computed = !doc_is(doc, doc->class->get(doc->owner, new->unknown, walk.key), DOC_NONE);

		if (doc_is(doc, before, DOC_NONE))
			before = none;
		if (whole || computed || !doc_same(doc->class->text(before), doc->class->text(walk.element)))
			doc->class->set(doc->owner, diff, walk.key, entry(doc, computed, walk.element, before));
	}
	while (doc_next(doc, &rest))
		if (doc_is(doc, doc->class->get(doc->owner, new->texts, rest.key), DOC_NONE) &&
			(whole || doc->class->text(rest.element).len > 0))
			doc->class->set(doc->owner, diff, rest.key, entry(doc, false, none, rest.element));
	return diff;
}

static bool has_action(const struct doc *doc, struct doc_value actions, const char *action)
{
	struct doc_walk walk = doc_walk(doc, actions);

	while (doc_next(doc, &walk))
		if (doc_is(doc, walk.element, DOC_STRING) &&
			doc_same(doc->class->text(walk.element), doc_literal(action)))
			return true;
	return false;
}

struct doc_value v1_change(const struct v1 *v1, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	struct doc_value change = doc_at(doc, resource, "change"), actions = doc_at(doc, change, "actions");
	struct doc_value before = doc_at(doc, change, "before"), after = doc_at(doc, change, "after");
	const bool created = !doc_is(doc, before, DOC_MAP), deleted = !doc_is(doc, after, DOC_MAP);
	const bool destroy = has_action(doc, actions, "delete");
	struct flat old = flat_new(v1, before, doc_none), new = flat_new(v1, before, schema_of(v1, resource));
	struct doc_value made = doc->class->map(doc->owner);

	flatten(&old, doc_literal(""), created ? doc_none : before, doc_none);
	flatten_attributes(&new, deleted ? doc_none : after, deleted ? doc_none : doc_at(doc, change, "after_unknown"));
	if (!deleted)
		doc_set(doc, made, "applied", after);
	doc_set(doc, made, "destroy", doc->class->flag(doc->owner, destroy));
	doc_set(doc, made, "diff", diff_of(&old, &new, created || deleted));
	doc_set(doc, made, "requires_new", doc->class->flag(doc->owner, destroy && has_action(doc, actions, "create")));
	return made;
}
