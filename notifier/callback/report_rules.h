/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_REPORT_RULES_H
#define NOTIFIER_CALLBACK_REPORT_RULES_H

/* The limits of a callback's document, and the checks of single members. Pure. */

#include "common/json/json.h"

struct err;

enum {
	REPORT_MESSAGE = 1000, /* characters, as are the next limits */
	REPORT_URL = 500,
	REPORT_OUTCOME_ID = 64,
	REPORT_DESCRIPTION = 1000,
	REPORT_BODY = 1 << 20, /* bytes */
	REPORT_TAGS = 10,
	REPORT_TAG_KEY = 64,
	REPORT_LABELS = 50, /* of one tag */
	REPORT_LABEL = 32,
};

/* One text member of the document and its bounds; 0: no bound. */
struct text_rule {
	const char *name;
	size_t characters, bytes;
	bool required; /* it must not be missing or empty; otherwise a missing one is stored as null */
	bool url;      /* an http or https URL; an empty one is stored as null */
};

/* Validates object[name] and copies it into `to` under the same name. -1 with the JSON pointer `parent`/name. */
int text_member(const json_t *object, const char *parent, const struct text_rule *rule, json_t *to, struct err *err);

/* True if the text is one of the words. */
bool one_of(const char *text, const char *const *words, size_t count);

#endif
