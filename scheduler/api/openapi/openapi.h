/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_OPENAPI_OPENAPI_H
#define SCHEDULER_API_OPENAPI_OPENAPI_H

/* The OpenAPI document of the public API, made from routes.def, operations.def and resources.def. */

/* The document as one line of JSON. The caller frees it. */
char *openapi_text(void);

#endif
