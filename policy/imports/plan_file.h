/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_PLAN_FILE_H
#define POLICY_IMPORTS_PLAN_FILE_H

/*
 * JSON documents that are decoded in parts: plan.json can have hundreds of megabytes, and a policy reads a few of them.
 *
 * A part is a value of the document that is not decoded. The functions skip what they do not return, and skipping
 * checks only strings and the number of brackets. What is decoded is checked as json_read does. JSON that is wrong is
 * an error of the run at its place in the document.
 *
 * The document is read once to find where its larger objects and lists end. With these spans a policy that looks at
 * all resources of a plan reads each byte about once instead of six times.
 */

#include <string.h>

#include "policy/values/value.h"

struct plan;

/* A JSON value of the document. */
struct plan_part {
	const struct plan *plan; /* the document; NULL: there is no such value */
	const char *begin, *end;
	uint32_t span; /* its number among the larger objects and lists, or NO_SPAN */
};

enum { NO_SPAN = UINT32_MAX };

/* The document's value. It is read from the beginning to the end. `source` must live as long as the run. */
struct plan_part plan_document(struct run *run, const struct source *source);
/* The first character: '{', '[', '"', a digit, 't'…; '\0' if there is no value. */
char plan_kind(struct plan_part part);
/* No value, or null. */
bool plan_is_null(struct plan_part part);

/* The members of an object or the elements of a list. Anything else has none.
 *
 *	struct plan_walk walk = plan_walk(object);
 *	while (plan_next(run, &walk)) use(walk.name, walk.part);
 */
struct plan_walk {
	struct plan_part of;
	const char *at; /* the next token */
	uint32_t span;  /* the next one in the document */
	bool object, begun;
	struct plan_part name; /* of a member: a string with its quotes */
	struct plan_part part;
};
struct plan_walk plan_walk(struct plan_part of);
bool plan_next(struct run *run, struct plan_walk *walk);
/* True if the member has that name. `name` has no characters that JSON escapes. */
static inline bool plan_named_bytes(const struct plan_walk *walk, const char *name, size_t len)
{
	return (size_t)(walk->name.end - walk->name.begin) == len + 2 && memcmp(walk->name.begin + 1, name, len) == 0;
}
static inline bool plan_named(const struct plan_walk *walk, const char *name)
{
	return plan_named_bytes(walk, name, strlen(name));
}

/* The member of the object, or of objects in it: "values.outputs". Of two members with one name the last counts. */
struct plan_part plan_at(struct run *run, struct plan_part object, const char *path);

/* Decodes the value. Strings refer to the document where they can. */
struct value plan_decode(struct run *run, struct plan_part part);
/* The value for a place in a list or map, which is decoded when it is read. */
struct value plan_lazy(struct run *run, struct plan_part part);

#endif
