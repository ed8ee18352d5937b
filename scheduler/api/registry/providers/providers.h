/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_PROVIDERS_PROVIDERS_H
#define SCHEDULER_API_REGISTRY_PROVIDERS_PROVIDERS_H

/* Functions that several handlers of the registry's providers call. */

#include "scheduler/api/kinds.h"

struct buf;
struct scope;

extern const struct resource_kind kind_provider_versions;

/* The provider of the path: `:registry_provider_id`, or `:registry/:namespace/:registry_provider` in the organization.
 * Checks the permission of the row. ERR_NOT_FOUND. */
int registry_provider_in_path(const struct request *req, struct rows *ret_rows, struct err *err);
/* The same and its version `:provider_version`. */
int provider_version_in_path(const struct request *req, struct rows *ret_rows, struct err *err);
/* The organization of that name, in which the requester has the permission of the row. `what` is not found otherwise.
 */
int registry_namespace_find(
	const struct request *req, const char *name, const char *what, struct id *ret_id, struct err *err);
/* Whether the requester may manage the organization's providers. */
bool providers_managed(const struct store *store, const char *organization_id);
/* Sets a link of the resource to a signed address, or to null. */
void signed_link_set(json_t *links, const char *name, const struct store *store, const char *path);

#endif
