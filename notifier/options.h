/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_OPTIONS_H
#define NOTIFIER_OPTIONS_H

#include "common/options/options.h"

struct options {
#define OPTION OPTION_FIELD
#include "notifier/options.def"
#undef OPTION
};

extern const struct option_table notifier_options;

/* Checks what the table can't express, and sets the default name to the host's name. ERR_INVALID. */
int notifier_options_settle(struct options *options, struct err *err);

#endif
