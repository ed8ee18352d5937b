/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_EPHEMERAL_H
#define WORKER_EXEC_EPHEMERAL_H

/*
 * Ephemeral input variables. A plan file does not hold their values, so the apply of the plan must be given them again.
 * Engines accept any variable of the plan then, as long as its value is the same. So a variable that only might be
 * ephemeral is given, too: the word in a comment or a description is enough.
 */

#include "worker/exec/modules.h"
#include "proto/version.h"

/* Terraform from 1.10, OpenTofu from 1.11. Earlier engines refuse variables beside a plan file. Pure. */
bool engine_has_ephemeral(bool tofu, const struct version *version);

/* Adds the variables that the text may declare as ephemeral to the object `names`, as members. Pure. */
void text_find_ephemeral(enum config_syntax syntax, const char *text, size_t len, json_t *names);
/* The same of all configuration files of a folder. A new reference. */
json_t *folder_find_ephemeral(int folder);

#endif
