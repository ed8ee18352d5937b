/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_REPORT_H
#define NOTIFIER_CALLBACK_REPORT_H

/* Parses the document of a callback and checks it against every limit. Pure. */

#include "common/json/json.h"

struct err;

/*
 * Reads the document. The result is an item of `POST callbacks` without the task result and the token:
 * {"status","message","url","outcomes"}, a new reference. -1 with ERR_INVALID and a pointer to the field. The
 * pointer is empty if the document can't be parsed.
 */
int report_parse(const char *bytes, size_t len, json_t **ret_report, struct err *err);

#endif
