/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/resources.h"
#include "scheduler/auth/lifetimes/token_limits.h"
#include "scheduler/auth/lifetimes/token_limits.sql.h"
#include "scheduler/http/columns.h"

/* The longest lifetimes of an organization's tokens. */

#define MAX_TTL_MS (3650 * 86400000LL)

static const char *const kinds[TOKEN_KINDS] = {"organization", "team", "user", "audit_trails"};

static const struct cell_shown attributes[] = {
	CELL("token-type", token_ttl, token_type),
	CELL("max-ttl-ms", token_ttl, max_ttl_ms),
	CELL_TIME("created-at", token_ttl, created_at),
	CELL_TIME("updated-at", token_ttl, updated_at),
};

static json_t *token_ttl_resource(const void *of_row)
{
	const struct token_ttl_row *row = of_row;

	return resource_new("organization-token-ttl-policies", row->id,
		cells_shown(attributes, ARRAY_LEN(attributes), of_row), NULL);
}

static const struct resource_kind kind_token_ttls = {
	.type = "organization-token-ttl-policies", .show = token_ttl_resource};

static int ttls_show(struct request *req, struct response *res, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (page_read(req, &page, err) < 0 ||
		token_ttls_read(
			req->store, organization_id, &(struct token_ttl_page){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_token_ttls, &rows}, err);
}

int token_ttls_index(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	return scope_organization(req, &scope, err) < 0 ? -1 : ttls_show(req, res, scope.organization.text, err);
}

static int policy_parse(const json_t *item, json_t *by_kind, struct err *err)
{
	static const char pointer[] = "/data/attributes/token-ttl-policies";
	const char *kind = json_string_at(item, "token-type");
	const json_t *ms = json_object_get(item, "max-ttl-ms");
	size_t known = 0;

	while (known < TOKEN_KINDS && !text_equal(kinds[known], kind))
		known++;
	if (known == TOKEN_KINDS)
		return err_at(err, pointer, "Token type must be organization, team, user or audit_trails");
	if (!json_is_integer(ms) || json_integer_value(ms) < 1000 || json_integer_value(ms) > MAX_TTL_MS)
		return err_at(err, pointer, "Max ttl ms must be 1000 to %lld", MAX_TTL_MS);
	json_object_set_new(by_kind, kind,
		json_pack("{ss sI}", "token-type", kind, "max-ttl-ms", (json_int_t)json_integer_value(ms)));
	return 0;
}

/* Of two policies of one kind, the last one counts. */
static int policies_parse(const struct request *req, json_t **ret_policies, struct err *err)
{
	const json_t *list = json_object_get(json_at(req->body, "data.attributes"), "token-ttl-policies"), *item;
	json_auto_t *by_kind = json_object();
	const char *kind;
	json_t *policy;
	size_t i;

	if (body_check(req, "organization-token-ttl-policies", err) < 0)
		return -1;
	if (!json_is_array(list) || !json_array_size(list))
		return err_at(
			err, "/data/attributes/token-ttl-policies", "Token ttl policies must be a list of policies");
	json_array_foreach(list, i, item)
	{
		if (policy_parse(item, by_kind, err) < 0)
			return -1;
	}
	*ret_policies = json_array();
	json_object_foreach(by_kind, kind, policy) json_array_append(*ret_policies, policy);
	return 0;
}

int token_ttls_change(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *policies = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || policies_parse(req, &policies, err) < 0 ||
		token_ttls_update(req->store, scope.organization.text, policies, err) < 0)
		return -1;
	return ttls_show(req, res, scope.organization.text, err);
}
