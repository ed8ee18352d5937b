/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/handlers.h"
#include "scheduler/auth/signed.h"

const struct route routes[] = {
#define SITE(method, path, handler, permission, kind, limit) {#method, path, handler, permission, kind, limit},
#define API(method, path, handler, permission, kind, limit)  {#method, "/api/v2" path, handler, permission, kind, limit},
#define SIGNED(method, path, handler, permission, kind, limit)                                                         \
	{#method, SIGNED_PREFIX "/:signature" path, handler, permission, kind, limit},
#define WORKER(method, path, handler, permission, kind, limit)                                                         \
	{#method, "/api/worker/v1" path, handler, permission, kind, limit},
#define NOTIFIER(method, path, handler, permission, kind, limit)                                                       \
	{#method, "/api/notifier/v1" path, handler, permission, kind, limit},
#include "scheduler/api/routes.def"
};

const size_t routes_count = ARRAY_LEN(routes);
