/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/kinds.h"
#include "scheduler/auth/workload/credentials.h"
#include "scheduler/auth/workload/identity.h"
#include "scheduler/auth/workload/identity.sql.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/variables/variables.h"

/* The identity of a workspace's runs: what verifiers must be told, and which credentials its variables ask for. */

/* The attributes of the variables that a run would get. The value of a sensitive one is not read. */
static int variables_of(struct request *req, const char *workspace_id, json_t *variables, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *resources = json_array();
	json_t *resource;
	size_t i;

	if (variables_effective(req->store, workspace_id, &rows, err) < 0 ||
		rows_show(req->store, &kind_variables, &rows, resources, err) < 0)
		return -1;
	json_array_foreach(resources, i, resource)
	{
		json_t *attributes = json_object_get(resource, "attributes");

		if (json_bool_at(attributes, "sensitive", false))
			json_object_set_new(attributes, "value", json_string("(sensitive)"));
		json_array_append(variables, attributes);
	}
	return 0;
}

static json_t *configuration_show(const json_t *item)
{
	_cleanup_(freep) char *variable = credential_switch(item);
	const char *kind = json_string_at(item, "kind");

	return json_pack("{ss ss ss ss so}", "kind", kind, "product", credential_product(kind), "tag",
		json_string_at(item, "tag"), "variable", variable, "audience",
		json_string_or_null(json_string_at(item, CREDENTIAL_AUDIENCE)));
}

static json_t *configurations_show(const json_t *variables, char **ret_problem)
{
	json_auto_t *environment = credentials_environment(variables);
	json_auto_t *items = credentials_wanted(environment, "plan", ret_problem);
	json_t *shown = json_array(), *item;
	size_t i;

	json_array_foreach(items, i, item) json_array_append_new(shown, configuration_show(item));
	if (!*ret_problem)
		json_decref(credentials_wanted(environment, "apply", ret_problem));
	return shown;
}

static json_t *subject_show(const struct workload_names_row *names, const char *phase)
{
	const struct workload workload = {.organization = names->organization,
		.project = names->project,
		.workspace = names->workspace,
		.phase = phase};
	_cleanup_(freep) char *subject = workload_subject(&workload);

	return json_string(subject);
}

int workspace_identity_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *problem = NULL;
	json_auto_t *variables = json_array();
	const struct workload_names_row *names;
	json_t *configurations;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		workload_names_read(req->store, scope.workspace.text, &rows, err) < 0 ||
		variables_of(req, scope.workspace.text, variables, err) < 0)
		return -1;
	names = row_of(workload_names, &rows, 0);
	configurations = configurations_show(variables, &problem);
	return respond_resource(res, 200,
		resource_new("workload-identities", scope.workspace.text,
			json_pack("{ss so so ss ss ss so so}", "issuer", req->store->settings->public_url,
				"plan-subject", subject_show(names, "plan"), "apply-subject",
				subject_show(names, "apply"), "organization-name", names->organization, "project-name",
				names->project, "workspace-name", names->workspace, "configurations", configurations,
				"problem", json_string_or_null(problem)),
			NULL));
}
