/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/policies/policy_set_parameters.h"

#include <string.h>

#include "scheduler/api/policies/policy_sets.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/policies/policy_set_parameters.sql.h"

enum { MAX_KEY = 256 };

/* ---- the resource ---- */

static int parameter_resource(
	struct store *store, const struct policy_set_parameter_row *parameter, json_t **ret_resource, struct err *err)
{
	_cleanup_(buf_release) struct buf value = BUF_INIT(PARAMETER_VALUE_LIMIT);

	if (!parameter->sensitive && seal_open(store, parameter->id, parameter->value_sealed, &value, err) < 0)
		return -1;
	*ret_resource = resource_new("vars", parameter->id,
		json_pack("{ss so ss sb sb so}", "key", parameter->key, "value",
			json_string_or_null(parameter->sensitive ? NULL : buf_str(&value)), "category", "policy-set",
			"hcl", 0, "sensitive", parameter->sensitive, "created-at", time_shown(parameter->created_at)),
		json_pack("{so}", "configurable", to_one("policy-sets", parameter->policy_set_id)));
	return 0;
}

static int parameter_read_resource(
	struct store *store, const char *set_id, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_set_parameter_read(store, set_id, id, &rows, err) < 0)
		return -1;
	return parameter_resource(store, row_of(policy_set_parameter, &rows, 0), ret_resource, err);
}

/* ---- reading ---- */

int policy_set_parameters_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT, rows = ROWS_INIT;
	json_auto_t *data = json_array();
	struct page page;

	if (page_read(req, &page, err) < 0 || policy_set_in_path(req, &set, err) < 0 ||
		policy_set_parameters_list(
			req->store, set_of(&set)->id, (struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	page.total = row_of(policy_set_parameter, &rows, 0)->total;
	for (int i = 0; i < rows.count && row_of(policy_set_parameter, &rows, i)->id; i++) {
		json_t *resource;

		if (parameter_resource(req->store, row_of(policy_set_parameter, &rows, i), &resource, err) < 0)
			return -1;
		json_array_append_new(data, resource);
	}
	return respond_page(req, res, &page, json_incref(data), NULL);
}

int policy_set_parameters_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	json_t *resource;

	if (policy_set_in_path(req, &set, err) < 0)
		return -1;
	if (parameter_read_resource(req->store, set_of(&set)->id, param(req, "parameter"), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

/* ---- creating and changing ---- */

static int input_read(const struct request *req, struct policy_set_parameter *parameter, struct err *err)
{
	const char *category = "policy-set";

	if (body_check(req, "vars", err) < 0 || body_text(req, "key", &parameter->key, err) < 0 ||
		body_long_text(req, "value", &parameter->value, err) < 0 ||
		body_text(req, "category", &category, err) < 0 ||
		body_bool(req, "sensitive", &parameter->sensitive, err) < 0)
		return -1;
	if (!text_equal(category, "policy-set"))
		return err_at(err, "/data/attributes/category", "Category must be policy-set");
	if (!parameter->key || !*parameter->key)
		return err_at(err, "/data/attributes/key", "Key can't be blank");
	if (strlen(parameter->key) > MAX_KEY)
		return err_at(err, "/data/attributes/key", "Key is too long (maximum is %d characters)", MAX_KEY);
	if (strlen(text_or_empty(parameter->value)) > PARAMETER_VALUE_LIMIT)
		return err_at(err, "/data/attributes/value", "Value is too long (maximum is %d bytes)",
			PARAMETER_VALUE_LIMIT);
	return 0;
}

int policy_set_parameters_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT;
	struct policy_set_parameter parameter = {.key = NULL};
	struct id id;
	json_t *resource;

	if (policy_set_in_path(req, &set, err) < 0 || input_read(req, &parameter, err) < 0 ||
		policy_set_parameter_create(req->store, set_of(&set)->id, &parameter, &id, err) < 0)
		return -1;
	if (parameter_read_resource(req->store, set_of(&set)->id, id.text, &resource, err) < 0)
		return -1;
	return respond_resource(res, 201, resource);
}

int policy_set_parameters_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT, rows = ROWS_INIT;
	struct policy_set_parameter parameter = {.value = NULL};
	const struct policy_set_parameter_row *before;
	json_t *resource;

	if (policy_set_in_path(req, &set, err) < 0 ||
		policy_set_parameter_read(req->store, set_of(&set)->id, param(req, "parameter"), &rows, err) < 0)
		return -1;
	before = row_of(policy_set_parameter, &rows, 0);
	parameter.key = before->key;
	parameter.sensitive = before->sensitive;
	if (input_read(req, &parameter, err) < 0)
		return -1;
	if (!parameter.sensitive && before->sensitive)
		return err_at(err, "/data/attributes/sensitive", "Sensitive can't be turned off: make a new parameter");
	if (policy_set_parameter_update(req->store, before->id, &parameter, err) < 0 ||
		parameter_read_resource(req->store, set_of(&set)->id, before->id, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int policy_set_parameters_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT, rows = ROWS_INIT;

	if (policy_set_in_path(req, &set, err) < 0 ||
		policy_set_parameter_read(req->store, set_of(&set)->id, param(req, "parameter"), &rows, err) < 0 ||
		policy_set_parameter_delete(req->store, row_of(policy_set_parameter, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
