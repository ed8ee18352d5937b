/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SCIM_ADMIN_H
#define SCHEDULER_API_SCIM_ADMIN_H

#include "scheduler/http/request.h"

/* Shows the SCIM token of that id, or revokes it. ERR_NOT_FOUND. */
int scim_token_show(struct request *req, struct response *res, const char *id, struct err *err);
int scim_token_end(struct request *req, struct response *res, const char *id, struct err *err);

#endif
