/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_RELATIONS_H
#define SCHEDULER_HTTP_RELATIONS_H

/* To-many relations in requests, by the tables with which answers show them (http/columns.h). Lists of ids are new
 * references, and have each id once. */

#include "scheduler/http/columns.h"

/* data.relationships.<name>.data; NULL if it was not sent. ERR_INVALID with a pointer if it is not an array of {type,
 * id} with that type. */
int body_relations(const struct request *req, const char *name, const char *type, json_t **ret_ids, struct err *err);
/* The body of .../relationships/...: {"data": [{type, id}]}. */
int body_linkage(const struct request *req, const char *type, json_t **ret_ids, struct err *err);

/* Calls body_relations for each row. ret_ids has as many members as the table. */
int relations_read(
	const struct request *req, const struct relation *table, size_t count, json_t **ret_ids, struct err *err);
/* The index of the path's `:relation` in the table. ERR_NOT_FOUND. */
int relation_in_path(
	const struct request *req, const struct relation *table, size_t count, size_t *ret_index, struct err *err);
/* The number of ids in a jsonb column. */
size_t ids_count(const char *ids);

#endif
