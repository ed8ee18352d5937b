/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_EXACT_H
#define WORKER_COST_EXACT_H

#include "common/json/json.h"

/*
 * Parses JSON and keeps every number as a text, with its original digits. A number that is parsed as a double would
 * lose precision, and one of more than 64 bits would make the whole document unreadable. ERR_MALFORMED.
 */
int exact_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err);

#endif
