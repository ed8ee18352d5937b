/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_GLOBS_H
#define SCHEDULER_VCS_GLOBS_H

/*
 * Patterns of paths: trigger-patterns, and policy-update-patterns. A pattern is matched from the root of the
 * repository, with or without a slash at its start:
 *
 *   *    any characters, or none, but no slash
 *   ?    one character, but no slash
 *   **   as a whole part: any folders, or none; as the last part: anything below
 *   \x   the character x itself
 *
 * Hidden files are files like others. The time of a match is bounded by the product of both lengths. Pure.
 */

#include "common/json/json.h"

struct err;

enum { VCS_GLOB_MAX = 1024 }; /* bytes of a pattern */

/* -1 with ERR_INVALID if the pattern is empty, too long, has control characters or "..", or ends with a single "\". */
int vcs_glob_check(const char *pattern, struct err *err);
/* True if the path ("modules/a/main.tf") matches. A pattern that is not valid matches nothing. */
bool vcs_glob_match(const char *pattern, const char *path);

/* True if the path is the folder or is within it. Slashes around the folder don't count; "" and "." are the root. */
bool vcs_folder_has(const char *folder, const char *path);

#endif
