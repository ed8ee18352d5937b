/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_MOCKS_H
#define COMMON_TERRAFORM_MOCKS_H

/*
 * What Sentinel policies import of a run (tfplan/v2, tfconfig/v2, tfstate/v2, tfrun), made from `terraform show -json`
 * of its plan, each as the source of a Sentinel module: the form in which HCP exports them for `sentinel apply`. Pure.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct mock {
	const char *import; /* "tfplan/v2" */
	const char *file;   /* "mock-tfplan-v2.sentinel" */
	/* The module's values by name; a new object. */
	json_t *(*values)(const json_t *plan, const json_t *run);
	const char *functions; /* source that goes before the values; or NULL */
};

extern const struct mock mocks[];
extern const size_t mock_count;

/* The run as policies know it: HCP's names, which have underscores; what is null is left out of the cost estimate's
 * place. A new reference. */
json_t *policy_run(const json_t *run);
/* -1: over the buffer's limit. */
int mock_write(const struct mock *mock, const json_t *plan, const json_t *run, struct buf *out);

#endif
