/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VARIABLES_H
#define SCHEDULER_API_VARIABLES_H

#include "scheduler/api/api.h"
#include "scheduler/store/variables.h"

/* A row of store/variables.h; the value only if it is not sensitive. A new reference. */
int variable_resource(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err);
/* What the body sets, checked; what it leaves out stays as it is in *variable. Borrowed from the body. */
int variable_input_read(const struct request *req, struct variable *variable, struct err *err);

#endif
