/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WORKLOAD_CREDENTIALS_H
#define SCHEDULER_AUTH_WORKLOAD_CREDENTIALS_H

/*
 * Dynamic credentials: which short-lived credentials the variables of a run ask for (credentials.def). Pure.
 *
 * The scheduler reads the variables and makes the identities. The worker exchanges or writes what the providers read
 * (proto/README.md).
 */

#include "common/json/json.h"

/* The member of an item with the audience of its identity. Items without it need no identity. */
#define CREDENTIAL_AUDIENCE "audience-claim"

enum { CREDENTIALS_MAX = 32 };

/* The values of those variables that ask for identities or credentials, or describe them, by name. `variables` are
 * those of a job, in ascending order of precedence. A new reference. */
json_t *credentials_environment(const json_t *variables);
/* The tag of a variable that is called `plain`, or `plain`_TAG: "" without one. NULL for any other name. */
const char *credentials_tag(const char *name, const char *plain);
/* Whether it consists of letters, digits and underscores. */
bool credentials_tag_valid(const char *tag);

/*
 * Returns an array with one object for each configuration of the phase ("plan" or "apply"): "kind", "tag" ("": the
 * default one), and its settings. A new reference.
 *
 * *ret_refusal is the sentence for a person that says what is missing or wrong, or NULL. The caller frees it.
 */
json_t *credentials_wanted(const json_t *environment, const char *phase, char **ret_refusal);
/* The name of the variable with which the item was asked for. The caller frees it. */
char *credential_switch(const json_t *item);
/* The product of a kind, for people. */
const char *credential_product(const char *kind);

#endif
