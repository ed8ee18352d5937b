/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_VERSION_H
#define PROTO_VERSION_H

/* Versions of engines, and the constraints that workspaces name. Pure. */

#include "common/base.h"

struct version {
	int part[3]; /* major, minor, patch */
	char text[48];
};

/* "1.11.4", "v1.11.4", "1.12.0-rc1". -1 for anything else. */
int version_parse(const char *text, struct version *ret_version);
/* Below, equal, above: negative, 0, positive. */
int version_compare(const struct version *a, const struct version *b);

/* True if the version satisfies all of "~> 1.11.0, != 1.11.2" (terraform's operators). An exact version wants just
 * that one; "" and "latest" take any. ret_valid says whether the constraint could be read (NULL: don't care). */
bool version_fits(const struct version *version, const char *constraint, bool *ret_valid);
/* One exact version, "1.11.4", "v1.11.4" or "= 1.11.4", of letters, digits, dots, hyphens and plus signs, so that it
 * can stand in a path or a URL. -1 for anything else, such as another constraint. */
int version_exact(const char *text, struct version *ret_version);

#endif
