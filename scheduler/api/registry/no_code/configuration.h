/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_NO_CODE_CONFIGURATION_H
#define SCHEDULER_API_REGISTRY_NO_CODE_CONFIGURATION_H

/* The configuration of a workspace from a no-code module: one call of the module, whose inputs are variables of the
 * workspace, and its outputs. Pure. */

#include "common/buf.h"
#include "common/json/json.h"

struct err;

/* Borrowed. */
struct no_code_call {
	const char *source; /* HOST/ORGANIZATION/NAME/PROVIDER */
	const char *version;
	/* Those of the description of the module's version (common/terraform/module_description.h), or NULL if there is
	 * none. */
	const json_t *inputs, *outputs;
	const json_t *keys; /* names of the workspace's variables: those of inputs if these are not known */
};

/* Writes main.tf in a gzip'd tar. ERR_TOO_LARGE. */
int no_code_configuration(const struct no_code_call *call, struct buf *out, struct err *err);
/* The content of main.tf. The caller frees it. */
char *no_code_main(const struct no_code_call *call);

#endif
