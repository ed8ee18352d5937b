/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_STATES_STATES_H
#define SCHEDULER_API_STATES_STATES_H

#include "scheduler/api/api.h"

/* A row of store/states/states.h as a resource. */
json_t *state_resource(const struct store *store, const struct rows *rows, int row);
/* An output (store/states/states.h) as a resource. With `shown`, a sensitive value is included. A new reference. */
int state_output_resource(
	struct store *store, const struct rows *rows, int row, bool shown, json_t **ret_resource, struct err *err);

#endif
