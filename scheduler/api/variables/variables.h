/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VARIABLES_VARIABLES_H
#define SCHEDULER_API_VARIABLES_VARIABLES_H

#include "scheduler/api/api.h"
#include "scheduler/store/variables/variables.h"

/* A row of store/variables/variables.h as a resource. A sensitive value is left out. A new reference. */
int variable_resource(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err);
/* Reads a body into *variable and checks it. Attributes that were not sent stay as they are. Borrowed from the body. */
int variable_input_read(const struct request *req, struct variable *variable, struct err *err);

#endif
