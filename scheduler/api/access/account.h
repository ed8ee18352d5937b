/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_ACCOUNT_H
#define SCHEDULER_API_ACCESS_ACCOUNT_H

#include "scheduler/api/api.h"

/* A row of the shape `user` as a resource. */
json_t *user_resource(const void *of_row);

#endif
