/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_MIRROR_FOLDER_H
#define SCHEDULER_API_REGISTRY_MIRROR_FOLDER_H

/*
 * The operator's folder of providers, in the layout of a filesystem mirror: packed, as `terraform providers mirror`
 * writes it, or unpacked.
 *
 *     HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
 *     HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/terraform-provider-TYPE_vVERSION
 *
 * Other files are ignored. Files may be added and removed at any time. Thread-safe.
 */

#include "common/json/json.h"
#include "scheduler/api/registry/mirror/names.h"

struct err;
struct http_source;

/* Sets the folder, once, before the first request. "": there is no mirror. ERR_INVALID: it can't be read. */
int mirror_init(const char *path, struct err *err);

/* {"0.13.1": {}}, or ERR_NOT_FOUND. A new reference. */
int mirror_versions(const struct provider_address *address, json_t **ret_versions, struct err *err);
/* {"linux_amd64": {"url", "hashes"}}, or ERR_NOT_FOUND. Reads packages whose hash is not known yet: this takes a second
 * for some hundreds of MiB. */
int mirror_archives(
	const struct provider_address *address, const char *version, json_t **ret_archives, struct err *err);
/* The zip of a package. ERR_NOT_FOUND. */
int mirror_send(const struct provider_address *address, const struct package_name *name, struct http_source *ret_source,
	struct err *err);

#endif
