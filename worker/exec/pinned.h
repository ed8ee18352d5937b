/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PINNED_H
#define WORKER_EXEC_PINNED_H

/* Whether an init of the same configuration would come to the same again. */

#include "worker/exec/inits.h"

/*
 * Judges what init left in the working directory, `folder` below `root`, by .terraform/modules/modules.json, the
 * modules' own files and the lock file. `locked` is the lock file that the configuration came with, or NULL.
 *
 *  - A module that is called from elsewhere and not by an exact version or commit may have changed: INIT_MOVES. What
 *    such a one calls in turn counts as well.
 *  - A provider that the configuration's lock file did not pin was the newest that fitted: INIT_AGES.
 */
enum init_life init_life(int root, const char *folder, const char *locked);

/* Whether a module of that source, in a configuration that was installed, is always the same: part of the
 * configuration, an exact version of a registry (whose versions don't change), or a commit of git. NULL for what is not
 * given as plain text. Pure. */
bool module_is_pinned(const char *source, const char *version);

#endif
