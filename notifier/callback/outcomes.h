/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_OUTCOMES_H
#define NOTIFIER_CALLBACK_OUTCOMES_H

/* The outcomes of a callback's document, for report.c. */

#include "common/json/json.h"

struct err;

/* One text member of the document and its bounds; 0: no bound. */
struct text_rule {
	const char *name;
	size_t characters, bytes;
	bool required; /* it must not be missing or empty; otherwise a missing one is stored as null */
	bool url;      /* an http or https URL; an empty one is stored as null */
};

/* Validates object[name] and copies it into `to` under the same name. -1 with the JSON pointer `parent`/name. */
int text_member(const json_t *object, const char *parent, const struct text_rule *rule, json_t *to, struct err *err);

bool one_of(const char *text, const char *const *words, size_t count);

/* Reads `data` of the relation with that name. If it is NULL or null, *ret_outcomes is left unchanged. Returns a new
 * reference to outcomes {"outcome-id","description","body","url","tags"}. Every label in `tags` has a level. */
int outcomes_read(const json_t *data, const char *relation, json_t **ret_outcomes, struct err *err);

#endif
