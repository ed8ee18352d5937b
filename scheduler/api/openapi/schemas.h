/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_OPENAPI_SCHEMAS_H
#define SCHEDULER_API_OPENAPI_SCHEMAS_H

/* JSON schemas of the resources and objects of resources.def, for answers and for requests. */

#include "common/json/json.h"

enum schema_side { SCHEMA_ANSWER, SCHEMA_REQUEST };

/* Returns {"$ref": "#/components/schemas/..."} to the schemas of these names, separated by spaces; several become an
 * anyOf. Adds the schemas, and those that they refer to, to `schemas`. A new reference. */
json_t *schemas_ref(json_t *schemas, const char *names, enum schema_side side);
/* The schema of {"id", "type"} with one of the types, separated by spaces. A new reference. */
json_t *schema_linkage(const char *types, bool nullable);
/* The words of the text, separated by spaces, as an array of texts. A new reference. */
json_t *schema_words(const char *text);

#endif
