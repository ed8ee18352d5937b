/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_STATES_H
#define SCHEDULER_API_STATES_H

#include "scheduler/api/api.h"

/* One row of store/states.h as a resource. */
json_t *state_resource(const struct store *store, const struct rows *rows, int row);
/* One output (store/states.h); `shown`: its value also if it is sensitive. A new reference. */
int state_output_resource(
	struct store *store, const struct rows *rows, int row, bool shown, json_t **ret_resource, struct err *err);

#endif
