/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/mirror/names.h"

#include <stdio.h>
#include <string.h>

#define DIGITS  "0123456789"
#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char archive_begin[] = "terraform-provider-", archive_end[] = ".zip";

static bool name_fits(const char *name, const char *first, const char *characters)
{
	return *name && strchr(first, *name) && name[strspn(name, characters)] == '\0';
}

bool provider_address_valid(const struct provider_address *address)
{
	return name_fits(address->host, LETTERS DIGITS, LETTERS DIGITS ".-:") &&
		name_fits(address->namespace, LETTERS DIGITS, LETTERS DIGITS "_-") &&
		name_fits(address->type, LETTERS DIGITS, LETTERS DIGITS "_-");
}

bool provider_version_valid(const char *version)
{
	return strlen(version) < PACKAGE_NAME_SIZE && name_fits(version, DIGITS, LETTERS DIGITS ".+-");
}

bool provider_platform_valid(const char *platform)
{
	const char *split = strchr(platform, '_');

	return strlen(platform) < PACKAGE_NAME_SIZE && name_fits(platform, LOWER, LOWER DIGITS "_") && split &&
		split[1] && !strchr(split + 1, '_');
}

int package_name_parse(const char *type, const char *file, struct package_name *ret_name)
{
	_cleanup_(freep) char *begin = mem_printf("%s%s_", archive_begin, type);
	size_t len = strlen(file), end = strlen(archive_end);
	struct package_name name;
	const char *version, *split;

	if (!text_starts(file, begin) || len < strlen(begin) + end || !text_equal(file + len - end, archive_end))
		return -1;
	version = file + strlen(begin);
	split = strchr(version, '_');
	if (!split || split >= file + len - end)
		return -1;
	if (snprintf(name.version, sizeof(name.version), "%.*s", (int)(split - version), version) >=
			PACKAGE_NAME_SIZE ||
		snprintf(name.platform, sizeof(name.platform), "%.*s", (int)(file + len - end - split - 1),
			split + 1) >= PACKAGE_NAME_SIZE ||
		!provider_version_valid(name.version) || !provider_platform_valid(name.platform))
		return -1;
	*ret_name = name;
	return 0;
}

char *package_name_file(const char *type, const struct package_name *name)
{
	return mem_printf("%s%s_%s_%s%s", archive_begin, type, name->version, name->platform, archive_end);
}
