/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_REPORT_H
#define NOTIFIER_CALLBACK_REPORT_H

/* Parses the document of a callback and checks it against every limit. Pure. */

#include "common/json/json.h"

struct err;

enum {
	REPORT_MESSAGE = 1000, /* characters, as are the next limits */
	REPORT_URL = 500,
	REPORT_OUTCOMES = 250,
	REPORT_OUTCOME_ID = 64,
	REPORT_DESCRIPTION = 1000,
	REPORT_BODY = 1 << 20, /* bytes */
	REPORT_TAGS = 10,
	REPORT_TAG_KEY = 64,
	REPORT_LABELS = 50, /* of one tag */
	REPORT_LABEL = 32,
};

/*
 * Reads the document. The result is an item of `POST callbacks` without the task result and the token:
 * {"status","message","url","outcomes"}, a new reference. -1 with ERR_INVALID and a pointer to the field. The
 * pointer is empty if the document can't be parsed.
 */
int report_parse(const char *bytes, size_t len, json_t **ret_report, struct err *err);

#endif
