/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_FORM_H
#define SCHEDULER_UI_FORM_H

#include "common/json.h"

struct err;

/* Reads application/x-www-form-urlencoded into an object of texts; of a name that comes twice the last counts.
 * ERR_MALFORMED for what is not UTF-8 or holds a zero byte. */
int form_parse(const char *bytes, size_t len, json_t **ret_form, struct err *err);

#endif
