/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_PINNED_H
#define WORKER_PACKAGES_PINNED_H

/* Decides whether an init of the same configuration would give the same result again. */

#include "worker/engine/inits.h"

/*
 * Judges the result of init in the working directory, `folder` below `root`, by .terraform/modules/modules.json, the
 * modules' own files and the lock file. `locked` is the lock file that the configuration came with, or NULL.
 *
 *  - INIT_MOVES: a module from outside of the configuration is not called by an exact version or commit, so it may
 *    have changed. The calls of such modules count too.
 *  - INIT_AGES: the configuration's lock file did not pin a provider, so init took the newest one that fitted.
 */
enum init_life init_life(int root, const char *folder, const char *locked);

/* Whether a module of that source never changes in an installed configuration. That holds for a part of the
 * configuration, an exact version of a registry (whose versions don't change), and a commit of git. An argument is NULL
 * if it is not given as plain text. Pure. */
bool module_is_pinned(const char *source, const char *version);

#endif
