/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_APPLY_VARIABLES_H
#define WORKER_ENGINE_APPLY_VARIABLES_H

/*
 * Variables that an apply gets again.
 *
 * Ephemeral input variables. A plan file does not hold their values, so the apply of the plan needs them again.
 * Engines then accept any variable of the plan whose value is unchanged. So the worker also passes variables that
 * might be ephemeral: the word in a comment or a description is enough.
 */

#include "proto/version.h"
#include "worker/packages/modules.h"
#include "worker/runtime/assignment.h"

/* True for Terraform from 1.10 and OpenTofu from 1.11. Earlier engines refuse variables together with a plan file.
 * Pure. */
bool engine_has_ephemeral(bool tofu, const struct version *version);

/* Adds the variables that the text may declare as ephemeral to the object `names`, as members. Pure. */
void text_find_ephemeral(enum config_syntax syntax, const char *text, size_t len, json_t *names);
/* The same for all configuration files of a folder. A new reference. */
json_t *folder_find_ephemeral(int folder);

/* OpenTofu from 1.11 compares the values in files that it loads by itself (terraform.tfvars, *.auto.tfvars) and in the
 * environment (TF_VAR_...) with those of the plan, and refuses to apply another one. The run's own variables are
 * stronger than both, so the apply needs them again. Adds the names of those that occur in such a file, or that the
 * environment has, to the object `names`. */
void folder_find_weaker(int folder, const struct assignment *assignment, json_t *names);

#endif
