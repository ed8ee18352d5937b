/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ARGUMENTS_H
#define WORKER_EXEC_ARGUMENTS_H

/* terraform's arguments, without the program's own name. Pure. Paths are as the engine sees them. */

#include "worker/exec/variables.h"

void arguments_get(struct texts *args);
/* Never fetches modules: that is what `get` is for. */
void arguments_init(struct texts *args);
/* Configuration that the engine writes stands beside the plan, with ".tf" behind its name. */
void arguments_plan(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args);
void arguments_show(const char *plan, struct texts *args);
void arguments_schemas(struct texts *args);
/* `var_file` holds the ephemeral variables of the plan, or is NULL. */
void arguments_apply(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args);

#endif
