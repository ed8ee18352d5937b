/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/runs/run_triggers.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/runs/run_triggers.sql.h"
#include "scheduler/store/workspaces/workspaces.sql.h"
#include "scheduler/store/workspaces/workspaces.h"

static const struct inclusion includes[] = {
	{"workspace", "run-triggers", "workspace", &kind_workspaces},
	{"sourceable", "run-triggers", "sourceable", &kind_workspaces},
};

static json_t *trigger_resource(const void *of_row)
{
	const struct run_trigger_row *trigger = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/run-triggers/%s", trigger->id);
	json_t *resource = resource_new("run-triggers", trigger->id,
		json_pack("{so ss ss}", "created-at", time_shown(trigger->created_at), "sourceable-name",
			trigger->source_name, "workspace-name", trigger->workspace_name),
		json_pack("{so so}", "workspace", to_one("workspaces", trigger->workspace_id), "sourceable",
			to_one("workspaces", trigger->source_id)));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_run_triggers = {
	.type = "run-triggers", .show = trigger_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

static struct place place_of_source(const struct run_trigger_row *trigger)
{
	return (struct place){.organization = trigger->organization_id, .workspace = trigger->source_id};
}

static int list_read(const struct request *req, struct run_trigger_list *ret_list, struct err *err)
{
	const char *type = query(req, "filter[run-trigger][type]");

	if (!text_equal(type, "inbound") && !text_equal(type, "outbound"))
		return err_set(err, ERR_MALFORMED, "filter[run-trigger][type] must be inbound or outbound");
	ret_list->outbound = text_equal(type, "outbound");
	if (ret_list->outbound && *text_or_empty(query(req, "include")))
		return err_set(err, ERR_MALFORMED, "nothing can be included in a list of outbound run triggers");
	return includes_check(req, &kind_run_triggers, err);
}

int run_triggers_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_trigger_list list;
	struct scope scope;
	struct page page;

	if (scope_workspace(req, &scope, err) < 0 || list_read(req, &list, err) < 0 || page_read(req, &page, err) < 0)
		return -1;
	list.workspace_id = scope.workspace.text;
	list.limit = page.size;
	list.offset = page.offset;
	return run_triggers_list(req->store, &list, &rows, err) < 0
		? -1
		: respond_rows(req, res, &page, &(struct resource_rows){&kind_run_triggers, &rows}, err);
}

/* Actors that may read the runs of either workspace see the trigger. */
int run_triggers_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err ignored = ERR_INIT;

	if (includes_check(req, &kind_run_triggers, err) < 0 ||
		run_trigger_read(req->store, param(req, "trigger"), &rows, err) < 0)
		return -1;
	if (may(req, place_of(row_of(run_trigger, &rows, 0)), "run trigger", &ignored) < 0 &&
		may(req, place_of_source(row_of(run_trigger, &rows, 0)), "run trigger", err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_run_triggers, &rows}, err);
}

/* ---- creating and deleting ---- */

static int source_read(const struct request *req, const struct scope *scope, const char **ret_id, struct err *err)
{
	static const char pointer[] = "/data/relationships/sourceable";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = body_relation(req, "sourceable");

	if (!id)
		return err_at(err, pointer, "Sourceable must be a workspace");
	if (text_equal(id, scope->workspace.text))
		return err_at(err, pointer, "Sourceable can't be the workspace itself");
	if (workspace_lookup(req->store, id, &rows, err) < 0)
		return -1;
	*ret_id = id;
	if (!rows.count || !text_equal(row_of(workspace_lookup, &rows, 0)->organization_id, scope->organization.text))
		return err_set(err, ERR_NOT_FOUND, "sourceable not found");
	return may_with(req, CAN_READ_RUNS, (struct place){.organization = scope->organization.text, .workspace = id},
		"sourceable", err);
}

int run_triggers_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;
	const char *source = NULL;
	struct id id;

	if (scope_workspace(req, &scope, err) < 0 || body_check(req, "run-triggers", err) < 0 ||
		source_read(req, &scope, &source, err) < 0 ||
		run_trigger_create(req->store, scope.workspace.text, source, &id, err) < 0 ||
		run_trigger_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 201, &(struct resource_rows){&kind_run_triggers, &rows}, err);
}

int run_triggers_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (run_trigger_read(req->store, param(req, "trigger"), &rows, err) < 0 ||
		may(req, place_of(row_of(run_trigger, &rows, 0)), "run trigger", err) < 0 ||
		run_trigger_delete(req->store, row_of(run_trigger, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
