/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_MOCK_BUNDLE_H
#define SCHEDULER_API_RUNS_MOCK_BUNDLE_H

#include "common/buf.h"
#include "common/json/json.h"

struct err;

/* The source documents of mocks. Borrowed. */
struct mock_source {
	const json_t *plan, *run; /* run: with HCP's names (policy_run) */
	const json_t *schemas;    /* of the providers, or NULL */
};

/*
 * Writes the mock data of a plan, as a gzip'd tar for `runyard-policy test`, `sentinel test` and similar tools. It
 * contains a module for each import (common/terraform/mocks.h, v1/mocks.h), the configuration that names the modules,
 * and the plan's JSON, which OPA reads. Appends to *out.
 */
int mock_bundle_write(const struct mock_source *source, struct buf *out, struct err *err);

#endif
