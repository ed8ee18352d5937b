/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_MOCK_BUNDLE_H
#define SCHEDULER_API_RUNS_MOCK_BUNDLE_H

#include "common/buf.h"
#include "common/json/json.h"

struct err;

/*
 * Writes the mock data of a plan, as a gzip'd tar for `sentinel apply`, `sentinel test` and similar tools. It contains
 * a module for each import (common/terraform/mocks.h), the configuration that names the modules, and the plan's JSON,
 * which OPA reads. `run` has HCP's names (policy_run). Appends to *out.
 */
int mock_bundle_write(const json_t *plan, const json_t *run, struct buf *out, struct err *err);

#endif
