/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SHIP_UNRECORDED_H
#define WORKER_SHIP_UNRECORDED_H

/* Finds the resources that the engine of an apply reported but that its last state lacks (common/applied.h). */

#include <jansson.h>

/* Compares the output in the job's folder `top` (ship/record.h) with the last state there (ship/leftover.h). Blocks. A
 * new array, or NULL if there is no output. */
json_t *unrecorded_find(int top);

#endif
