/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_INFRACOST_H
#define WORKER_COST_INFRACOST_H

#include "common/json/json.h"

/*
 * Converts the output of `infracost breakdown --path plan.json --format json` (format 0.2) to the scheduler's document
 * of an estimate. Pure. ERR_MALFORMED if it has another form.
 */
int infracost_read(const char *text, size_t len, json_t **ret_document, struct err *err);

#endif
