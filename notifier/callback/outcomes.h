/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_OUTCOMES_H
#define NOTIFIER_CALLBACK_OUTCOMES_H

/* The outcomes of a callback's document, for report.c. */

#include "common/json/json.h"

struct err;

/* One text of the document and its bounds; 0: none. */
struct text_rule {
	const char *name;
	size_t characters, bytes;
	bool required; /* and not empty; else null stands for what is not there */
	bool url;      /* http or https; an empty one is none */
};

/* Puts object[name] into `to` under the same name, checked. -1 with the pointer `parent`/name. */
int text_member(const json_t *object, const char *parent, const struct text_rule *rule, json_t *to, struct err *err);

bool one_of(const char *text, const char *const *words, size_t count);

/* `data` of the relation of that name; NULL or null: none, and *ret_outcomes stays. Outcomes as
 * {"outcome-id","description","body","url","tags"}; tags have all their labels' levels. A new reference. */
int outcomes_read(const json_t *data, const char *relation, json_t **ret_outcomes, struct err *err);

#endif
