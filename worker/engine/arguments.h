/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_ARGUMENTS_H
#define WORKER_ENGINE_ARGUMENTS_H

/* Command-line arguments for terraform, without the program's own name. Pure. Paths are as the engine sees them. */

#include "worker/engine/variables.h"

/* Both take the modules and providers of a test run's files, too. */
void arguments_get(const struct assignment *assignment, struct texts *args);
/* The init command never fetches modules: `get` does that. */
void arguments_init(const struct assignment *assignment, struct texts *args);
/* The engine writes generated configuration next to the plan, under the plan's name with the suffix ".tf". */
void arguments_plan(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args);
/* Resources that a query finds get configuration, which is in the log's lines too, in a new file of that path; NULL:
 * they get none. */
void arguments_query(const char *var_file, const char *generated, struct texts *args);
/* `parallel`: the engine has the flag -parallelism. */
void arguments_test(const struct assignment *assignment, const char *var_file, bool parallel, struct texts *args);
void arguments_show(const char *plan, struct texts *args);
void arguments_schemas(struct texts *args);
/* `var_file` holds the variables that the apply needs again, or is NULL. */
void arguments_apply(const struct assignment *assignment, const char *var_file, const char *plan, struct texts *args);

#endif
