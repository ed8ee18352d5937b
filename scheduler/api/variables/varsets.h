/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VARIABLES_VARSETS_H
#define SCHEDULER_API_VARIABLES_VARSETS_H

#include "scheduler/api/api.h"

/* The set in the path, if the actor has the route's permission: a row of store/variables/varsets.h. ERR_NOT_FOUND. */
int varset_in_path(struct request *req, struct rows *ret_rows, struct err *err);

#endif
