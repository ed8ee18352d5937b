/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/return_path.h"

#include <string.h>

#include "scheduler/ui/page.h"

const char *return_path(const char *wanted)
{
	if (wanted && wanted[0] == '/' && wanted[1] != '/' && !strchr(wanted, '\\') &&
		!wanted[strcspn(wanted, "\r\n\t")])
		return wanted;
	return APP_PATH;
}
