/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_VARSET_GLOBALS_H
#define SCHEDULER_STORE_VARIABLES_VARSET_GLOBALS_H

/* A variable's name and category are in at most one of an organization's global sets. */

#include "scheduler/store/store.h"

/* Call it after a change of the set or its variables, in the same transaction. ERR_INVALID if the set is global and
 * another global set of the organization has a variable of the same name and category. */
int varset_touch(struct store *store, const char *id, struct err *err);

#endif
