/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_OPENAPI_OPERATIONS_H
#define SCHEDULER_API_OPENAPI_OPERATIONS_H

/* The operations of the OpenAPI document, made from routes.def and operations.def. */

#include "common/json/json.h"

/* The operation of the route with that index, or NULL if the document does not have it. Adds the schemas that it refers
 * to. A new reference. */
json_t *operation_of(json_t *schemas, size_t at);

#endif
