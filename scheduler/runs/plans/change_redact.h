/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_PLANS_CHANGE_REDACT_H
#define SCHEDULER_RUNS_PLANS_CHANGE_REDACT_H

/*
 * One change of a plan without its sensitive values. A value is blanked on both sides if either side marks it as
 * sensitive, if it holds a secret, or if it is a string that was blanked elsewhere. A mask that does not fit its value
 * blanks it.
 */

#include "scheduler/runs/plans/secret_texts.h"

/* Stands for a name or an address that holds a secret. */
#define SENSITIVE_NAME "(sensitive value)"

/* The values of terraform's `change` object; NULL: absent. Borrowed. */
struct change_sides {
	const json_t *before, *after, *before_sensitive, *after_sensitive, *after_unknown;
};

/* New references. NULL: the value is absent, or the mask marks nothing. */
struct change_shown {
	json_t *before, *after;
	json_t *sensitive; /* mask: blanked on both sides */
	json_t *changed;   /* mask: blanked, and the sides differ */
	json_t *unknown;   /* mask: known after apply */
};
#define CHANGE_SHOWN_INIT                                                                                              \
	{                                                                                                              \
		.before = NULL                                                                                         \
	}

void change_redact(const struct change_sides *sides, struct secret_texts *secrets, struct change_shown *ret_shown);
void change_shown_release(struct change_shown *shown);

/* True if the mask marks any part. */
bool mask_marks(const json_t *mask);
/* The string without a secret: SENSITIVE_NAME if it holds one; null for anything else. A new reference. */
json_t *name_redact(const json_t *name, struct secret_texts *secrets);
/* A path of names and indices, cut before a part that the mask marks. A new reference, or NULL for another value. */
json_t *path_redact(const json_t *path, const json_t *mask, struct secret_texts *secrets);

#endif
