/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_V1_DOC_H
#define COMMON_TERRAFORM_V1_DOC_H

/*
 * JSON values of two kinds: the evaluator's values in its imports, jansson's in mocks (doc_json.h). v1.h uses this
 * interface alone, so that the same code makes imports and mocks.
 *
 * A value lives as long as its owner. Functions that make values may fail as the owner does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value as the class keeps it. All zero: there is no value. */
struct doc_value {
	uint64_t words[2];
};

enum doc_kind { DOC_NONE, DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_LIST, DOC_MAP };

/* Not terminated. */
struct doc_text {
	const char *bytes;
	size_t len;
};

/* The elements of a list or the members of a map; any other value has none. */
struct doc_walk {
	struct doc_text key; /* of a member; "" of an element of a list */
	struct doc_value element;
	struct doc_value of;
	_Alignas(16) unsigned char state[96]; /* the class's */
};

struct doc_class {
	enum doc_kind (*kind)(struct doc_value value);
	bool (*truth)(struct doc_value flag);
	struct doc_text (*text)(struct doc_value string);
	size_t (*count)(struct doc_value container);
	struct doc_value (*get)(void *owner, struct doc_value map, struct doc_text key);
	void (*begin)(void *owner, struct doc_walk *walk);
	bool (*next)(void *owner, struct doc_walk *walk);

	struct doc_value (*map)(void *owner);
	struct doc_value (*list)(void *owner);
	struct doc_value (*flag)(void *owner, bool truth);
	struct doc_value (*null)(void *owner);
	/* Borrows the bytes, which must live as long as the owner. */
	struct doc_value (*string)(void *owner, struct doc_text text);
	/* a, the separator, b. */
	struct doc_text (*join)(void *owner, struct doc_text a, struct doc_text separator, struct doc_text b);
	/* The number as a policy would write it: 12, 1.5. */
	struct doc_text (*number)(void *owner, struct doc_value number);

	/* A member of a diff: {"computed", "new", "old"}. */
	struct doc_value (*entry)(void *owner, bool computed, struct doc_value new, struct doc_value old);
	/* The diff of a resource (v1_diff), now or when it is read. */
	struct doc_value (*diff)(void *owner, struct doc_value resource);

	void (*set)(void *owner, struct doc_value map, struct doc_text key, struct doc_value value);
	void (*drop)(void *owner, struct doc_value map, struct doc_text key);
	void (*push)(void *owner, struct doc_value list, struct doc_value value);
	/* Sets the value of a resource (v1_element), now or when it is read. */
	void (*set_element)(void *owner, struct doc_value map, struct doc_text key, struct doc_value resource);
	/* The same for an instance; `index` is a string or a number. */
	void (*set_instance)(void *owner, struct doc_value map, struct doc_value index, struct doc_value resource);

	/* Around each recursion over the values. */
	void (*enter)(void *owner);
	void (*leave)(void *owner);
};

struct doc {
	const struct doc_class *class;
	void *owner;
};

static const struct doc_value doc_none;

static inline bool doc_is(const struct doc *doc, struct doc_value value, enum doc_kind kind)
{
	return doc->class->kind(value) == kind;
}

/* The member of that name, or none; also if `map` is no map. */
struct doc_value doc_get(const struct doc *doc, struct doc_value map, struct doc_text key);
struct doc_value doc_at(const struct doc *doc, struct doc_value map, const char *name);
/* The member at a path: "change.actions". */
struct doc_value doc_path(const struct doc *doc, struct doc_value map, const char *path);
/* The text of a string member; "" if it is none. */
struct doc_text doc_text_at(const struct doc *doc, struct doc_value map, const char *name);
struct doc_walk doc_walk(const struct doc *doc, struct doc_value of);
bool doc_next(const struct doc *doc, struct doc_walk *walk);
void doc_set(const struct doc *doc, struct doc_value map, const char *name, struct doc_value value);
/* "a", the separator, "b". */
struct doc_text doc_join(const struct doc *doc, struct doc_text a, const char *separator, struct doc_text b);
/* The text of a string, number or bool; "" of any other value. */
struct doc_text doc_scalar(const struct doc *doc, struct doc_value value);
/* The map that is a member of the map, which is added if there is none. */
struct doc_value doc_inner(const struct doc *doc, struct doc_value map, struct doc_text key);

struct doc_text doc_literal(const char *text);
bool doc_same(struct doc_text a, struct doc_text b);

#endif
