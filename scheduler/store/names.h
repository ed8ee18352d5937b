/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NAMES_H
#define SCHEDULER_STORE_NAMES_H

#include "scheduler/store/store.h"

/* 0 for 1 to 90 characters of [A-Za-z0-9_-]; else ERR_INVALID "<attribute> ..." with the pointer, if one is given. */
int name_check(const char *attribute, const char *pointer, const char *name, struct err *err);
/* ERR_INVALID "<attribute> <name> is reserved" if no organization may have this name. */
int name_check_reserved(const char *attribute, const char *pointer, const char *name, struct err *err);
/* Makes the name of an account from a name or an address at a provider: letters, digits, hyphens and underscores of the
 * part before its @. There is room for a number behind it. */
enum { USERNAME_SIZE = 57 };
void username_make(const char *from, char ret_name[USERNAME_SIZE]);
/* Call it after a failed statement. If it violated this unique index, the error becomes ERR_INVALID "<what> has already
 * been taken" with the pointer. Always returns -1. */
int value_taken(struct store *store, const char *index, const char *what, const char *pointer, struct err *err);
/* The same for the attribute "name". */
int name_taken(struct store *store, const char *index, struct err *err);

#endif
