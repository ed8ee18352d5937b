/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_INFRACOST_H
#define WORKER_COST_INFRACOST_H

#include "common/json.h"

/*
 * What `infracost breakdown --path plan.json --format json` says, as the scheduler's document of an estimate (its
 * output format 0.2). Pure. ERR_MALFORMED if it is something else.
 */
int infracost_read(const char *text, size_t len, json_t **ret_document, struct err *err);

#endif
