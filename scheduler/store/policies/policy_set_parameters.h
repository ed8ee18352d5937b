/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICY_SET_PARAMETERS_H
#define SCHEDULER_STORE_POLICIES_POLICY_SET_PARAMETERS_H

/* Parameters of a policy set. Every value is sealed, with the parameter's id as context. Rows are
 * policy_set_parameter_row. */

#include "scheduler/store/store.h"

enum { PARAMETER_VALUE_LIMIT = 256 << 10 };

struct policy_set_parameter {
	const char *key;
	const char *value; /* NULL: unchanged */
	bool sensitive;
};

/* Sorted by key, with `total`; a row with a null id if the page is empty. */
int policy_set_parameters_list(struct store *store, const char *policy_set_id, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int policy_set_parameter_read(
	struct store *store, const char *policy_set_id, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Key has already been taken", or if the set has the maximum number of parameters. */
int policy_set_parameter_create(struct store *store, const char *policy_set_id,
	const struct policy_set_parameter *parameter, struct id *ret_id, struct err *err);
int policy_set_parameter_update(
	struct store *store, const char *id, const struct policy_set_parameter *parameter, struct err *err);
int policy_set_parameter_delete(struct store *store, const char *id, struct err *err);

#endif
