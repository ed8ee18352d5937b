/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_OPTIONS_H
#define WORKER_OPTIONS_H

#include "common/options/options.h"

struct options {
#define OPTION OPTION_FIELD
#include "worker/options.def"
#undef OPTION
};

extern const struct option_table worker_options;

/* Checks constraints that the table can't express, makes the data directory, and makes relative paths absolute.
 * ERR_INVALID. */
int worker_options_settle(struct options *options, struct err *err);

#endif
