/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_READER_H
#define POLICY_CONFIGURATION_READER_H

/* Shared by the functions that read files. */

#include <stddef.h>

#include "policy/core/run.h"

/* The user of a file, for messages: `module "x"`, and the place that names it. */
struct reader {
	const char *subject;
	struct place place;
};

struct file {
	const char *bytes; /* not terminated */
	size_t len;
};

#endif
