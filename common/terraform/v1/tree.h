/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_V1_TREE_H
#define COMMON_TERRAFORM_V1_TREE_H

/*
 * JSON values of whoever calls: the evaluator's values in its imports, jansson's in mocks (tree_json.h). v1.h is
 * written against this interface, so that imports and mocks are made by the same code.
 *
 * A value lives as long as its owner. Functions that make values may fail as the owner does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value as the class keeps it. All zero: there is no value. */
struct tree_value {
	uint64_t words[2];
};

enum tree_kind { TREE_NONE, TREE_NULL, TREE_BOOL, TREE_NUMBER, TREE_STRING, TREE_LIST, TREE_MAP };

/* Not terminated. */
struct tree_text {
	const char *bytes;
	size_t len;
};

/* The elements of a list or the members of a map; any other value has none. */
struct tree_walk {
	struct tree_text key; /* of a member */
	struct tree_value element;
	struct tree_value of;
	_Alignas(16) unsigned char state[96]; /* the class's */
};

struct tree_class {
	enum tree_kind (*kind)(struct tree_value value);
	bool (*truth)(struct tree_value flag);
	struct tree_text (*text)(struct tree_value string);
	size_t (*count)(struct tree_value container);
	struct tree_value (*get)(void *owner, struct tree_value map, struct tree_text key);
	void (*begin)(void *owner, struct tree_walk *walk);
	bool (*next)(void *owner, struct tree_walk *walk);

	struct tree_value (*map)(void *owner);
	struct tree_value (*list)(void *owner);
	struct tree_value (*flag)(void *owner, bool truth);
	struct tree_value (*null)(void *owner);
	/* Borrows the bytes, which must live as long as the owner. */
	struct tree_value (*string)(void *owner, struct tree_text text);
	/* a, then b. */
	struct tree_text (*join)(void *owner, struct tree_text a, struct tree_text b);
	/* The number as a policy would write it: 12, 1.5. */
	struct tree_text (*number)(void *owner, struct tree_value number);

	void (*set)(void *owner, struct tree_value map, struct tree_text key, struct tree_value value);
	void (*push)(void *owner, struct tree_value list, struct tree_value value);
	/* Sets what v1_element makes of the resource, now or when it is read. */
	void (*set_element)(void *owner, struct tree_value map, struct tree_text key, struct tree_value resource);
	/* The same for an instance; `index` is a string or a number. */
	void (*set_instance)(void *owner, struct tree_value map, struct tree_value index, struct tree_value resource);

	/* Around each recursion over the values. */
	void (*enter)(void *owner);
	void (*leave)(void *owner);
};

struct tree {
	const struct tree_class *class;
	void *owner;
};

static const struct tree_value tree_none;

static inline bool tree_is(const struct tree *tree, struct tree_value value, enum tree_kind kind)
{
	return tree->class->kind(value) == kind;
}

/* The member of that name, or none. */
struct tree_value tree_at(const struct tree *tree, struct tree_value map, const char *name);
/* The member at a path: "change.actions". */
struct tree_value tree_path(const struct tree *tree, struct tree_value map, const char *path);
/* The text of a string member; "" if it is none. */
struct tree_text tree_text_at(const struct tree *tree, struct tree_value map, const char *name);
struct tree_walk tree_walk(const struct tree *tree, struct tree_value of);
bool tree_next(const struct tree *tree, struct tree_walk *walk);
void tree_set(const struct tree *tree, struct tree_value map, const char *name, struct tree_value value);
/* "a", the separator, "b". */
struct tree_text tree_join(const struct tree *tree, struct tree_text a, const char *separator, struct tree_text b);
/* The text of a string, number or bool; "" of any other value. */
struct tree_text tree_scalar(const struct tree *tree, struct tree_value value);
/* The map that is a member of the map, which is added if there is none. */
struct tree_value tree_inner(const struct tree *tree, struct tree_value map, struct tree_text key);

struct tree_text tree_literal(const char *text);
bool tree_same(struct tree_text a, struct tree_text b);
/* The shortest text that reads back as the same number: "1.5", "1000". */
enum { TREE_NUMBER_TEXT = 40 };
void tree_real_text(char text[TREE_NUMBER_TEXT], double real);

#endif
