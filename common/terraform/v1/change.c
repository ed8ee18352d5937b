/* SPDX-License-Identifier: MPL-2.0 */
/* A change of a resource: what is applied, and the diff with flat keys. */
#include <stdio.h>
#include <string.h>

#include "common/terraform/v1/v1.h"

/* One side of a change, whose attributes are put by their flat keys. */
struct flat {
	const struct v1 *v1;
	struct doc_value diff;  /* the diff, or none: then `old` is filled */
	struct doc_value old;   /* or none: the texts before the change, of keys that are not in the diff yet */
	bool deleted;           /* the texts are the old ones */
	struct doc_value empty; /* "" */
	struct doc_value attributes, schema; /* before the change; of the resource's type. Either may be none */
};

static void flatten(const struct flat *flat, struct doc_text key, struct doc_value value, struct doc_value unknown);

/* ---- types ---- */

static struct doc_value schema_of(const struct v1 *v1, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	const bool data = doc_same(doc_text_at(doc, resource, "mode"), doc_literal("data"));
	struct doc_value provider =
		doc_get(doc, doc_at(doc, v1->schemas, "provider_schemas"), doc_text_at(doc, resource, "provider_name"));
	struct doc_value types = doc_at(doc, provider, data ? "data_source_schemas" : "resource_schemas");

	return doc_at(doc, doc_get(doc, types, doc_text_at(doc, resource, "type")), "block");
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

/* By the schema, or else by the value before the change. */
static const char *ending_of(const struct flat *flat, struct doc_text name)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_value attribute = doc_get(doc, doc_at(doc, flat->schema, "attributes"), name);
	struct doc_value block = doc_get(doc, doc_at(doc, flat->schema, "block_types"), name);
	struct doc_value before;

	if (doc_is(doc, attribute, DOC_MAP)) {
		struct doc_value nested = doc_at(doc, attribute, "nested_type");

		return ending(doc_is(doc, nested, DOC_MAP) ? doc_text_at(doc, nested, "nesting_mode")
							   : type_word(doc, doc_at(doc, attribute, "type")));
	}
	if (doc_is(doc, block, DOC_MAP))
		return ending(doc_text_at(doc, block, "nesting_mode"));
	before = doc_get(doc, flat->attributes, name);
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
	return doc_join(doc, doc_literal(text), "", doc_literal(""));
}

/* Adds the new text to the diff, unless the old one is the same. */
static void put_new(const struct flat *flat, struct doc_text key, struct doc_value text, bool computed)
{
	const struct doc *doc = &flat->v1->doc;
	const bool compares = !doc_is(doc, flat->old, DOC_NONE);
	struct doc_value old = compares ? doc->class->get(doc->owner, flat->old, key) : doc_none;

	if (!doc_is(doc, old, DOC_NONE))
		doc->class->drop(doc->owner, flat->old, key);
	else
		old = flat->empty;
	if (!compares || computed || !doc_same(doc->class->text(old), doc->class->text(text)))
		doc->class->set(doc->owner, flat->diff, key, doc->class->entry(doc->owner, computed, text, old));
}

static void put(const struct flat *flat, struct doc_text key, struct doc_value text)
{
	const struct doc *doc = &flat->v1->doc;

	if (doc_is(doc, flat->diff, DOC_NONE))
		doc->class->set(doc->owner, flat->old, key, text);
	else if (flat->deleted)
		doc->class->set(doc->owner, flat->diff, key, doc->class->entry(doc->owner, false, flat->empty, text));
	else
		put_new(flat, key, text, false);
}

static void put_unknown(const struct flat *flat, struct doc_text key)
{
	put_new(flat, key, flat->empty, true);
}

static struct doc_value text_of(const struct flat *flat, struct doc_value scalar)
{
	const struct doc *doc = &flat->v1->doc;

	if (doc_is(doc, scalar, DOC_NULL))
		return flat->empty;
	if (doc_is(doc, scalar, DOC_STRING))
		return scalar;
	return doc->class->string(doc->owner, doc_scalar(doc, scalar));
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
	put(flat, key, doc->class->string(doc->owner, number_text(doc, count)));
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

/* The shape to flatten. An absent value has that of its unknown parts. */
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
		put(flat, key, text_of(flat, value));
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

/* ---- the diff ---- */

/* The keys that only the old side has. */
static void put_removed(const struct flat *flat)
{
	const struct doc *doc = &flat->v1->doc;
	struct doc_walk walk = doc_walk(doc, flat->old);

	while (doc_next(doc, &walk))
		if (doc->class->text(walk.element).len > 0)
			doc->class->set(doc->owner, flat->diff, walk.key,
				doc->class->entry(doc->owner, false, flat->empty, walk.element));
}

/* All keys of a resource that is created or deleted, else those that change. */
struct doc_value v1_diff(const struct v1 *v1, struct doc_value resource)
{
	const struct doc *doc = &v1->doc;
	struct doc_value change = doc_at(doc, resource, "change");
	struct doc_value before = doc_at(doc, change, "before"), after = doc_at(doc, change, "after");
	const bool created = !doc_is(doc, before, DOC_MAP), deleted = !doc_is(doc, after, DOC_MAP);
	struct flat flat = {.v1 = v1,
		.diff = doc->class->map(doc->owner),
		.old = created || deleted ? doc_none : doc->class->map(doc->owner),
		.deleted = deleted,
		.empty = doc->class->string(doc->owner, doc_literal("")),
		.attributes = before,
		.schema = schema_of(v1, resource)};
	struct flat old = flat;

	old.diff = deleted ? flat.diff : doc_none;
	if (!created)
		flatten(&old, doc_literal(""), before, doc_none);
	if (!deleted)
		flatten_attributes(&flat, after, doc_at(doc, change, "after_unknown"));
	put_removed(&flat);
	return flat.diff;
}

/* ---- a resource ---- */

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
	struct doc_value after = doc_at(doc, change, "after"), made = doc->class->map(doc->owner);
	const bool destroy = has_action(doc, actions, "delete");

	if (doc_is(doc, after, DOC_MAP))
		doc_set(doc, made, "applied", after);
	doc_set(doc, made, "destroy", doc->class->flag(doc->owner, destroy));
	doc_set(doc, made, "diff", doc->class->diff(doc->owner, resource));
	doc_set(doc, made, "requires_new", doc->class->flag(doc->owner, destroy && has_action(doc, actions, "create")));
	return made;
}
