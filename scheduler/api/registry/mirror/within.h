/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_MIRROR_WITHIN_H
#define SCHEDULER_API_REGISTRY_MIRROR_WITHIN_H

/* Files below a folder of the operator. A link that leads out of that folder is not followed, and only regular files
 * and folders are opened. */

#include <dirent.h>
#include <sys/stat.h>

#include "common/base.h"

/* Opens a regular file or a folder. Fills *ret_info unless it is NULL. The caller closes it. -1: there is none. */
int within_open(int folder, const char *path, struct stat *ret_info);
/* The entries of a folder, for within_next: `_cleanup_(within_closep) DIR *list = ...;`. NULL: it is no folder. */
DIR *within_list(int folder, const char *path);
void within_closep(DIR **list);
/* The name of the next entry, hidden ones left out; borrowed until the next call. NULL after the last one. */
const char *within_next(DIR *list);

#endif
