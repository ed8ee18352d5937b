/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NAMES_H
#define SCHEDULER_STORE_NAMES_H

struct err;

/* 0 for 1 to 90 characters of [A-Za-z0-9_-]; else ERR_INVALID "<attribute> ..." with the pointer, if one is given. */
int name_check(const char *attribute, const char *pointer, const char *name, struct err *err);

#endif
