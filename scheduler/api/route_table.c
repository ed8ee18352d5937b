/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/handlers.h"
#include "scheduler/auth/signed.h"

const struct route routes[] = {
#define SITE(method, path, handler, permission, format, limit, executor)                                               \
	{#method, path, handler, permission, format, limit, executor},
#define API(method, path, handler, permission, format, limit, executor)                                                \
	{#method, "/api/v2" path, handler, permission, format, limit, executor},
#define SIGNED(method, path, handler, permission, format, limit, executor)                                             \
	{#method, SIGNED_PREFIX "/:signature" path, handler, permission, format, limit, executor},
#define WORKER(method, path, handler, permission, format, limit, executor)                                             \
	{#method, "/api/worker/v1" path, handler, permission, format, limit, executor},
#define NOTIFIER(method, path, handler, permission, format, limit, executor)                                           \
	{#method, "/api/notifier/v1" path, handler, permission, format, limit, executor},
#define SCIM(method, path, handler, permission, format, limit, executor)                                               \
	{#method, SCIM_PREFIX path, handler, permission, format, limit, executor},
#define REGISTRY(method, path, handler, permission, format, limit, executor)                                           \
	{#method, REGISTRY_PREFIX path, handler, permission, format, limit, executor},
#define REGISTRY_KEYS(method, path, handler, permission, format, limit, executor)                                      \
	{#method, REGISTRY_KEYS_PREFIX path, handler, permission, format, limit, executor},
#include "scheduler/api/routes.def"
};

const size_t routes_count = ARRAY_LEN(routes);
