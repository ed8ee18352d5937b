/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/explorer/explorer_answers.h"
#include "scheduler/http/scope.h"

/* Queries of the explorer. */

struct parameters {
	struct explorer_query *query;
	struct err *err;
	bool failed;
};

static void parameter_read(void *data, const char *name, const char *value)
{
	struct parameters *p = data;
	_cleanup_(freep) char *field = NULL, *op = NULL, *of_view = mem_printf("fields[%s]", p->query->view.name);

	if (p->failed)
		return;
	if (text_starts(name, "filter")) {
		p->failed = !explorer_filter_name(name, &field, &op)
			? err_set(p->err, ERR_MALFORMED,
				  "a filter has the form filter[<number>][<field>][<operator>][0]") < 0
			: explorer_query_filter(p->query, &(struct explorer_filter){field, op, value}, p->err) < 0;
	} else if (text_equal(name, of_view) && *value) {
		p->failed = explorer_query_fields(p->query, value, p->err) < 0;
	}
}

static int query_read(const struct request *req, struct explorer_query *ret_query, struct err *err)
{
	struct parameters parameters = {ret_query, err, false};
	const char *fields = text_or_null(query(req, "fields")), *sort = text_or_null(query(req, "sort"));

	if (explorer_query_init(ret_query, text_or_empty(query(req, "type")), err) < 0)
		return -1;
	http_query_each(req->http, parameter_read, &parameters);
	if (!parameters.failed && (!sort || explorer_query_sort(ret_query, sort, err) == 0) &&
		(!fields || explorer_query_fields(ret_query, fields, err) == 0))
		return 0;
	explorer_query_release(ret_query);
	return -1;
}

static int answer(struct request *req, struct response *res,
	int (*respond)(struct request *req, struct response *res, const char *organization_id,
		struct explorer_query *query, struct err *err),
	struct err *err)
{
	struct explorer_query query;
	struct scope scope;
	int result;

	if (scope_organization(req, &scope, err) < 0 || query_read(req, &query, err) < 0)
		return -1;
	result = respond(req, res, scope.organization.text, &query, err);
	explorer_query_release(&query);
	return result;
}

int explorer_index(struct request *req, struct response *res, struct err *err)
{
	return answer(req, res, explorer_respond, err);
}

int explorer_export(struct request *req, struct response *res, struct err *err)
{
	return answer(req, res, explorer_respond_csv, err);
}
