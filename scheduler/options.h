/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OPTIONS_H
#define SCHEDULER_OPTIONS_H

/* The scheduler's options, from options.def. */

#include "common/options/options.h"

struct scheduler_options {
#define OPTION OPTION_FIELD
#include "scheduler/options.def"
#undef OPTION
};

extern const struct option_table scheduler_options;

#endif
