/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/mail_address.h"

#include <string.h>

bool mail_address_valid(const char *address)
{
	const char *at = address ? strchr(address, '@') : NULL;

	if (!at || at == address || !at[1] || strchr(at + 1, '@'))
		return false;
	for (const char *c = address; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("<>,;:\"()[]\\", *c))
			return false;
	return true;
}
