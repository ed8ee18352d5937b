/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_HANDLERS_H
#define SCHEDULER_API_HANDLERS_H

/* Declares every handler of routes.def. */

#include "scheduler/http/routes.h"

#define SITE(method, path, handler, permission, format, limit, executor)                                               \
	int handler(struct request *req, struct response *res, struct err *err);
#define API           SITE
#define SIGNED        SITE
#define WORKER        SITE
#define NOTIFIER      SITE
#define SCIM          SITE
#define REGISTRY      SITE
#define REGISTRY_KEYS SITE
#include "scheduler/api/routes.def"
#undef SITE
#undef API
#undef SIGNED
#undef WORKER
#undef NOTIFIER
#undef SCIM
#undef REGISTRY
#undef REGISTRY_KEYS

#endif
