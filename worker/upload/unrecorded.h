/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_UPLOAD_UNRECORDED_H
#define WORKER_UPLOAD_UNRECORDED_H

/* Finds the resources that the engine of an apply reported but that its last state lacks (common/terraform/applied.h).
 */

#include <jansson.h>

/* Compares the output in the job's folder `top` (upload/record.h) with the last state there (upload/leftover.h).
 * Blocks. A new array, or NULL if there is no output. */
json_t *unrecorded_find(int top);

#endif
