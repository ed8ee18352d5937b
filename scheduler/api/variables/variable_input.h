/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VARIABLES_VARIABLE_INPUT_H
#define SCHEDULER_API_VARIABLES_VARIABLE_INPUT_H

#include "scheduler/http/request.h"
#include "scheduler/store/variables/variables.h"

enum { VARIABLE_VALUE_MAX = 256 << 10 };

/* Reads a body into *variable and checks it. Attributes that were not sent stay as they are. Borrowed from the body. */
int variable_input_read(const struct request *req, struct variable *variable, struct err *err);

#endif
