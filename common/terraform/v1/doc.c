/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/doc.h"

#include <string.h>

struct doc_text doc_literal(const char *text)
{
	return (struct doc_text){.bytes = text, .len = strlen(text)};
}

bool doc_same(struct doc_text a, struct doc_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

struct doc_value doc_get(const struct doc *doc, struct doc_value map, struct doc_text key)
{
	return doc_is(doc, map, DOC_MAP) ? doc->class->get(doc->owner, map, key) : doc_none;
}

struct doc_value doc_at(const struct doc *doc, struct doc_value map, const char *name)
{
	return doc_get(doc, map, doc_literal(name));
}

struct doc_value doc_path(const struct doc *doc, struct doc_value map, const char *path)
{
	while (*path && doc_is(doc, map, DOC_MAP)) {
		const size_t len = strcspn(path, ".");

		map = doc->class->get(doc->owner, map, (struct doc_text){.bytes = path, .len = len});
		path += len + (path[len] == '.');
	}
	return *path ? doc_none : map;
}

struct doc_text doc_text_at(const struct doc *doc, struct doc_value map, const char *name)
{
	struct doc_value member = doc_at(doc, map, name);

	return doc_is(doc, member, DOC_STRING) ? doc->class->text(member) : doc_literal("");
}

struct doc_walk doc_walk(const struct doc *doc, struct doc_value of)
{
	struct doc_walk walk = {.of = of, .key = doc_literal("")};

	if (doc_is(doc, of, DOC_LIST) || doc_is(doc, of, DOC_MAP))
		doc->class->begin(doc->owner, &walk);
	else
		walk.of = doc_none;
	return walk;
}

bool doc_next(const struct doc *doc, struct doc_walk *walk)
{
	return !doc_is(doc, walk->of, DOC_NONE) && doc->class->next(doc->owner, walk);
}

void doc_set(const struct doc *doc, struct doc_value map, const char *name, struct doc_value value)
{
	doc->class->set(doc->owner, map, doc_literal(name), value);
}

struct doc_text doc_join(const struct doc *doc, struct doc_text a, const char *separator, struct doc_text b)
{
	return doc->class->join(doc->owner, a, doc_literal(separator), b);
}

struct doc_text doc_scalar(const struct doc *doc, struct doc_value value)
{
	switch (doc->class->kind(value)) {
	case DOC_STRING:
		return doc->class->text(value);
	case DOC_NUMBER:
		return doc->class->number(doc->owner, value);
	case DOC_BOOL:
		return doc_literal(doc->class->truth(value) ? "true" : "false");
	default:
		return doc_literal("");
	}
}

struct doc_value doc_inner(const struct doc *doc, struct doc_value map, struct doc_text key)
{
	struct doc_value inner = doc->class->get(doc->owner, map, key);

	if (doc_is(doc, inner, DOC_MAP))
		return inner;
	inner = doc->class->map(doc->owner);
	doc->class->set(doc->owner, map, key, inner);
	return inner;
}
