/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_PLAN_REDACT_H
#define SCHEDULER_API_RUNS_PLAN_REDACT_H

#include "common/json/json.h"

/*
 * The document from which clients render a plan: changes, drift and outputs of `terraform show -json`, and the
 * providers' schemas. Values that terraform marks as sensitive are left out. So is each text that holds one of
 * `secrets`, an array of texts; secrets under four bytes are too common to look for. Borrows all; a new reference.
 */
json_t *plan_redact(const json_t *plan, const json_t *schemas, const json_t *secrets);

#endif
