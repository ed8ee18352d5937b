/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_VERSION_H
#define PROTO_VERSION_H

/* Versions of engines, and the version constraints of workspaces. Pure. */

#include "common/base.h"

struct version {
	int part[3]; /* major, minor, patch */
	char text[48];
};

/* Parses "1.11.4", "v1.11.4" or "1.12.0-rc1". Returns -1 for anything else. */
int version_parse(const char *text, struct version *ret_version);
/* Returns a negative number, 0 or a positive number for below, equal, above. */
int version_compare(const struct version *a, const struct version *b);

/* Returns true if the version satisfies all terms of "~> 1.11.0, != 1.11.2" (terraform's operators). An exact version
 * matches only itself; "" and "latest" match any. *ret_valid is false if the constraint cannot be parsed (ret_valid may
 * be NULL). */
bool version_fits(const struct version *version, const char *constraint, bool *ret_valid);
/* Parses one exact version, "1.11.4", "v1.11.4" or "= 1.11.4". It has only letters, digits, dots, hyphens and plus
 * signs, so that it can be part of a path or a URL. Returns -1 for anything else, such as another constraint. */
int version_exact(const char *text, struct version *ret_version);

#endif
