/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_TAGS_H
#define SCHEDULER_API_WORKSPACES_TAGS_H

/* Parses tags and tag bindings in requests: in a body of their own, or as a relation of their owner. */

#include "scheduler/api/api.h"
#include "scheduler/store/workspaces/tags.h"

/* The data of the body's relation, or of the body itself. NULL if it was not sent or is null. Borrowed. */
const json_t *body_relation_list(const struct request *req, const char *name);

/* ERR_INVALID if the text has more than `max` bytes, or characters that are invalid in keys and values. */
int tag_text_check(const char *text, size_t max, const char *what, const char *pointer, struct err *err);
/* Parses a list of tags, each with an id or a name, into two arrays of texts without duplicates. New references, also
 * after an error. */
int tags_parse(const json_t *list, const char *pointer, json_t **ret_ids, json_t **ret_names, struct err *err);
/* Parses a list of bindings into an array of {"key", "value"}. Of a repeated key, the last value counts. A new
 * reference. */
int bindings_parse(const json_t *list, const char *pointer, json_t **ret_bindings, struct err *err);

/* The keys and values in a list's `filter[tagged][i]` and, if it is sent, `search[tags]`. */
void tag_filters_read(const struct request *req, struct db_array *keys, struct db_array *values);

/* For `include=effective-tag-bindings` of workspaces and projects: adds that relation to each resource of the array,
 * and the bindings to *included. For `include=tag-bindings` of modules and providers: the same, for the resources that
 * have the relation. */
int bindings_include(
	const struct request *req, enum tagged kind, json_t *resources, json_t **included, struct err *err);

#endif
