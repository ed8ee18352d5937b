/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_MIRROR_NAMES_H
#define SCHEDULER_API_REGISTRY_MIRROR_NAMES_H

/* Names of providers and of their packages in a mirror. They come from clients and become paths, so that nothing but
 * the listed characters is accepted. Pure. */

#include "common/base.h"

/* "registry.terraform.io/hashicorp/time". Borrowed. */
struct provider_address {
	const char *host, *namespace, *type;
};

enum { PACKAGE_NAME_SIZE = 64 };

/* What the name of an archive says: "terraform-provider-time_0.13.1_linux_amd64.zip". */
struct package_name {
	char version[PACKAGE_NAME_SIZE];
	char platform[PACKAGE_NAME_SIZE]; /* "linux_amd64" */
};

bool provider_address_valid(const struct provider_address *address);
/* "0.13.1", "1.0.0-rc.1+build" */
bool provider_version_valid(const char *version);
bool provider_platform_valid(const char *platform);
/* Parses the name of an archive of the provider `type`. -1: it is none. */
int package_name_parse(const char *type, const char *file, struct package_name *ret_name);
/* The reverse. The caller frees it. */
char *package_name_file(const char *type, const struct package_name *name);

#endif
