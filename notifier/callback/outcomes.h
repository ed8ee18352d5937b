/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_OUTCOMES_H
#define NOTIFIER_CALLBACK_OUTCOMES_H

/* The outcomes of a callback's document, for report.c. */

#include "common/json/json.h"

struct err;

/* Reads `data` of the relation with that name. If it is NULL or null, *ret_outcomes is left unchanged. Returns a new
 * reference to outcomes {"outcome-id","description","body","url","tags"}. Every label in `tags` has a level. */
int outcomes_read(const json_t *data, const char *relation, json_t **ret_outcomes, struct err *err);

#endif
