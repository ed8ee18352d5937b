/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_PROVIDER_SETS_H
#define WORKER_ENGINE_PROVIDER_SETS_H

/*
 * Puts the provider sets of a job into the configuration of its no-code workspace, which calls one module and has no
 * blocks `provider`. The module gets the root's configurations of providers.
 *
 * The sets are a tenant's texts that nothing has parsed. Each must be one block `provider` with one label and no alias.
 * So a set adds nothing else to a configuration. A configuration with an alias would have no effect: the call of the
 * module passes none.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct assignment;
struct err;

/* Writes the file of the sets: required_providers, a block `provider` for each set, and the variables of the workspace
 * that they mention, except those in `declared` (an object by name). ERR_INVALID with the name of the set that can't be
 * used. Pure. */
int provider_sets_text(const struct assignment *assignment, const json_t *declared, struct buf *out, struct err *err);
/* Writes that file into the working directory `folder`, if sets apply. ERR_INVALID, ERR_INTERNAL. */
int provider_sets_write(int folder, const struct assignment *assignment, struct err *err);

#endif
