/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_MOCKS_H
#define COMMON_TERRAFORM_MOCKS_H

/*
 * Creates the imports of Sentinel policies (tfplan/v2, tfconfig/v2, tfstate/v2, tfrun) from `terraform show -json`
 * of a run's plan. Each import is the source of a Sentinel module, in the form that HCP exports for `sentinel
 * apply`. Pure.
 */

#include "common/buf.h"
#include "common/json/json.h"
#include "common/terraform/imports.h"

struct mock {
	const char *import;      /* "tfplan/v2" */
	const char *file;        /* "mock-tfplan-v2.sentinel" */
	enum import_shape shape; /* SHAPE_NONE: the run */
	const char *functions;   /* source that precedes the values; or NULL */
};

extern const struct mock mocks[];
extern const size_t mock_count;

/* The run as policies see it, with HCP's names, which have underscores. A cost estimate that is null is left out. A
 * new reference. */
json_t *policy_run(const json_t *run);
/* The module's values by name; a new reference. */
json_t *mock_values(const struct mock *mock, const json_t *plan, const json_t *run);
/* -1 if the buffer's limit would be exceeded. */
int mock_write(const struct mock *mock, const json_t *plan, const json_t *run, struct buf *out);

#endif
