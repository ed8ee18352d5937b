/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_PLAN_REDACT_H
#define SCHEDULER_API_PLAN_REDACT_H

#include "common/json.h"

/*
 * The document that clients render a plan from: changes, drift and outputs of `terraform show -json`,
 * together with the providers' schemas, and without any value that terraform marks as sensitive, nor any text that
 * holds one of the secrets (an array of texts; those under four bytes are too common to look for). Borrows all; a new
 * reference.
 */
json_t *plan_redact(const json_t *plan, const json_t *schemas, const json_t *secrets);

#endif
