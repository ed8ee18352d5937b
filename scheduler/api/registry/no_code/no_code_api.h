/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_NO_CODE_NO_CODE_API_H
#define SCHEDULER_API_REGISTRY_NO_CODE_NO_CODE_API_H

#include "scheduler/http/request.h"
#include "scheduler/store/registry/no_code/no_code.sql.h"

/* The no-code module of the path, of which the requester's organization is the owner. Only routes about settings find
 * one that is not enabled. ERR_NOT_FOUND. The permission is not checked. */
int no_code_find(const struct request *req, struct rows *ret_rows, struct err *err);

#endif
