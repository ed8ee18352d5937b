/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"

/* All runs of the installation, for site admins. */

static json_t *admin_run_resource(const void *of_row)
{
	const struct site_run_row *run = of_row;

	return resource_new("runs", run->id,
		json_pack("{ss so sb so}", "status", run->status, "status-timestamps",
			json_shown(run->status_timestamps), "has-changes", run->has_changes, "created-at",
			time_shown(run->created_at)),
		json_pack("{so}", "workspace", to_one("workspaces", run->workspace_id)));
}

static const struct inclusion includes[] = {
	{"workspace", "runs", "workspace", &kind_workspaces},
	{"workspace.organization", "workspaces", "organization", &kind_organizations},
	{"workspace.organization.owners", "organizations", "owners", NULL},
};

static const struct resource_kind kind_admin_runs = {
	.type = "runs", .show = admin_run_resource, KIND_INCLUDES(includes)};

static int time_read(const struct request *req, const char *name, const char **ret_time, struct err *err)
{
	*ret_time = query(req, name);
	if (*ret_time && !**ret_time)
		*ret_time = NULL;
	if (*ret_time && !time_valid(*ret_time))
		return err_set(err, ERR_MALFORMED, "%s must be a time such as 2026-11-21T01:25:00Z", name);
	return 0;
}

static int list_read(const struct request *req, struct site_runs *list, struct page *page, struct err *err)
{
	const char *search = query(req, "q");

	if (includes_check(req, &kind_admin_runs, err) < 0 || page_read(req, page, err) < 0 ||
		time_read(req, "filter[from]", &list->from, err) < 0 ||
		time_read(req, "filter[to]", &list->to, err) < 0)
		return -1;
	if (search && id_valid(search, "run"))
		list->run_id = search;
	else if (search && *search)
		list->search = search;
	list->statuses = query(req, "filter[status]");
	if (list->statuses && !*list->statuses)
		list->statuses = NULL;
	list->limit = page->size + 1; /* the extra row says whether there is another page */
	list->offset = page->offset;
	return 0;
}

int admin_runs_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *data = json_array();
	struct site_runs list = {.run_id = NULL};
	struct page page;
	json_t *included = NULL;

	if (list_read(req, &list, &page, err) < 0 || site_runs_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = -1;
	page.more = rows.count > page.size;
	rows.count -= page.more;
	if (rows_show(req->store, &kind_admin_runs, &rows, data, err) < 0 ||
		includes_follow(req, &kind_admin_runs, data, &included, err) < 0)
		return -1;
	return respond_page(req, res, &page, json_incref(data), included);
}

/* Cancels the run. If the run does not end at once, kills its process without the usual waiting time after a cancel. */
int admin_runs_force_cancel(struct request *req, struct response *res, struct err *err)
{
	struct run_transition items[] = {
		{.event = {.kind = EV_CANCELED}}, {.event = {.kind = EV_FORCE_CANCELED}, .at_once = true}};
	const char *comment = NULL;

	if (!id_valid(param(req, "run"), "run"))
		return err_set(err, ERR_NOT_FOUND, "run not found");
	if (body_comment(req, &comment, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		text_copy(items[i].run.text, sizeof(items[i].run.text), param(req, "run"));
		items[i].actor = req->actor.user.text;
	}
	items[0].comment = comment;
	if (runs_apply_transitions(req->store, items, ARRAY_LEN(items), err) < 0)
		return -1;
	if (items[0].outcome == TRANSITION_NO_RUN)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	if (items[0].outcome != TRANSITION_APPLIED && items[1].outcome != TRANSITION_APPLIED)
		return err_set(err, ERR_CONFLICT, "%s", text_or_empty(items[0].refused));
	return respond_empty(res, 202);
}
