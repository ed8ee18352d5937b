/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RELATIONS_H
#define SCHEDULER_API_RELATIONS_H

/* To-many relations as clients send them. Lists of ids are new references, each id in them once. */

#include "scheduler/api/api.h"

/* data.relationships.<name>.data; NULL if it was not sent. ERR_INVALID with a pointer if it is no array of {type, id}
 * with that type. */
int body_relations(const struct request *req, const char *name, const char *type, json_t **ret_ids, struct err *err);
/* The body of .../relationships/...: {"data": [{type, id}]}. */
int body_linkage(const struct request *req, const char *type, json_t **ret_ids, struct err *err);
/* The ids of a list of texts as a parameter. */
void ids_add(struct db_array *array, const json_t *ids);

#endif
