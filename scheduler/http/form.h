/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_FORM_H
#define SCHEDULER_HTTP_FORM_H

#include "common/json/json.h"

struct err;

/* Parses application/x-www-form-urlencoded into an object of texts. Of a repeated name, the last value counts.
 * ERR_MALFORMED if a text is not UTF-8 or contains a zero byte. */
int form_parse(const char *bytes, size_t len, json_t **ret_form, struct err *err);

#endif
