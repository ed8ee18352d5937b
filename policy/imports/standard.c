/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/standard.h"

#include <string.h>

const struct import *const standard_imports[] = {
	&import_base64,
	&import_collection,
	&import_decimal,
	&import_http,
	&import_json,
	&import_lists,
	&import_maps,
	&import_runtime,
	&import_sockaddr,
	&import_strings,
	&import_time,
	&import_types,
	&import_units,
	&import_version,
	NULL,
};

const struct import *standard_import(const char *name, size_t len)
{
	for (const struct import *const *import = standard_imports; *import; import++)
		if (strlen((*import)->name) == len && memcmp((*import)->name, name, len) == 0)
			return *import;
	return NULL;
}
