/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_STANDARD_H
#define POLICY_IMPORTS_STANDARD_H

/*
 * The imports that every policy may use. They read nothing but their arguments; `time` reads the run's clock, and
 * `http` sends requests if the run has a transport.
 *
 * An argument that is undefined makes the result undefined; one of a type that the function does not take is an error.
 */

#include "policy/values/value.h"

extern const struct import import_base64;
extern const struct import import_collection;
extern const struct import import_decimal;
extern const struct import import_http;
extern const struct import import_json;
extern const struct import import_lists;
extern const struct import import_maps;
extern const struct import import_runtime;
extern const struct import import_sockaddr;
extern const struct import import_strings;
extern const struct import import_time;
extern const struct import import_types;
extern const struct import import_units;
extern const struct import import_version;

/* Fixes time.now. `time` is a number of seconds since 1970 or a text of RFC 3339; fails for any other value. */
void time_set_now(struct run *run, struct value time);

/* All of them, ended by NULL. */
extern const struct import *const standard_imports[];

/* The import of that name ("collection/maps"), or NULL. */
const struct import *standard_import(const char *name, size_t len);

#endif
