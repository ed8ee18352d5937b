/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_USED_H
#define WORKER_PACKAGES_USED_H

/* The modules and providers that init has chosen for a configuration. */

/* {"modules": [{"source", "version"}], "providers": [{"source", "version"}]} of the working directory, `folder` below
 * `root`, by .terraform/modules/modules.json and the lock file. A file that is missing or can't be read counts as
 * empty. The caller frees the text; NULL if it is longer than USED_MAX. */
enum { USED_MAX = 1 << 20 };
char *packages_used(int root, const char *folder);

#endif
