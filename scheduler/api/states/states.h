/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_STATES_STATES_H
#define SCHEDULER_API_STATES_STATES_H

#include "scheduler/api/api.h"
#include "scheduler/store/states/states.sql.h"

/* A state version as a resource. */
json_t *state_resource(const struct store *store, const struct state_row *state);

#endif
