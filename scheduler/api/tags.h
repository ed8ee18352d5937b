/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TAGS_H
#define SCHEDULER_API_TAGS_H

/* Tags and tag bindings as clients send them, in a body of their own or as a relation of what they belong to. */

#include "scheduler/api/api.h"
#include "scheduler/store/tags.h"

/* The data of a body's relation, or of the body itself. NULL if it was not sent, or is null. Borrowed. */
const json_t *body_relation_list(const struct request *req, const char *name);

/* ERR_INVALID for more than `most` bytes, and for characters that keys and values can't have. */
int tag_text_check(const char *text, size_t most, const char *what, const char *pointer, struct err *err);
/* A list of tags, each with an id or a name: two arrays of texts, each text once; new references, also after an error.
 */
int tags_parse(const json_t *list, const char *pointer, json_t **ret_ids, json_t **ret_names, struct err *err);
/* A list of bindings as an array of {"key", "value"}, the last of a key; a new reference. */
int bindings_parse(const json_t *list, const char *pointer, json_t **ret_bindings, struct err *err);

/* Keys and values that a list's `filter[tagged][i]` and, if there is such a parameter, `search[tags]` ask for. */
void tag_filters_read(const struct request *req, struct db_array *keys, struct db_array *values);

/* With `include=effective-tag-bindings`: gives each resource of the array that relation, and adds what it points to. */
int bindings_include(
	const struct request *req, enum tagged kind, json_t *resources, json_t **included, struct err *err);

#endif
