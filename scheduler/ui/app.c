/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/workspaces/workspaces.sql.h"
#include "scheduler/ui/page.h"

/* The page of the web UI, which is the same for all its addresses, and redirects from short addresses. */

/* The path that the pattern makes with the request's values, percent-encoded. */
static void path_of(const struct request *req, const char *pattern, struct buf *ret_path)
{
	while (*pattern) {
		size_t plain = strcspn(pattern, ":"), name;

		buf_append(ret_path, pattern, plain);
		pattern += plain;
		if (!*pattern)
			return;
		name = strcspn(++pattern, "/");
		_cleanup_(freep) char *key = mem_printf("%.*s", (int)name, pattern);
		buf_url(ret_path, param(req, key));
		pattern += name;
	}
}

struct query_copy {
	struct buf *text;
	bool more;
};

static void parameter_copy(void *data, const char *name, const char *value)
{
	struct query_copy *copy = data;

	buf_text(copy->text, copy->more ? "&" : "?");
	buf_url(copy->text, name);
	buf_text(copy->text, "=");
	buf_url(copy->text, value);
	copy->more = true;
}

/* The address of the pattern, with the request's values and query. */
static void address_of(const struct request *req, const char *pattern, struct buf *ret_address)
{
	struct query_copy copy = {.text = ret_address};

	path_of(req, pattern, ret_address);
	http_query_each(req->http, parameter_copy, &copy);
}

enum { ADDRESS_LIMIT = 900 }; /* less than http_answer.location */

int ui_app(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf address = BUF_INIT(ADDRESS_LIMIT);
	int allowed;

	address_of(req, req->route->pattern, &address);
	allowed = page_need_user(req, res, buf_str(&address), err);
	return allowed > 0 ? page_shell(req, res) : allowed;
}

static int redirect(const struct request *req, struct response *res, const char *pattern)
{
	_cleanup_(buf_release) struct buf address = BUF_INIT(ADDRESS_LIMIT);

	address_of(req, pattern, &address);
	return page_redirect(res, buf_str(&address));
}

/* ---- short addresses, which the CLI and notifications show ---- */

int ui_short_organization(struct request *req, struct response *res, struct err *err)
{
	(void)err;
	return redirect(req, res, "/app/:organization/workspaces");
}

int ui_short_workspace(struct request *req, struct response *res, struct err *err)
{
	(void)err;
	return redirect(req, res, "/app/:organization/workspaces/:workspace");
}

int ui_short_run(struct request *req, struct response *res, struct err *err)
{
	(void)err;
	return redirect(req, res, "/app/:organization/workspaces/:workspace/runs/:run");
}

int ui_short_query(struct request *req, struct response *res, struct err *err)
{
	(void)err;
	return redirect(req, res, "/app/:organization/workspaces/:workspace/queries/:query_run");
}

/* /app/ORGANIZATION/settings: the workspace of that name, or else the first of the organization's settings, which every
 * member may see (web/src/pages/org_settings/sections.ts). The caller learns of no workspace that it may not read. */
int ui_short_settings(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows workspace = ROWS_INIT;
	_cleanup_(buf_release) struct buf back = BUF_INIT(ADDRESS_LIMIT);
	struct err hidden = ERR_INIT;
	struct place place;
	int allowed;

	address_of(req, req->route->pattern, &back);
	allowed = page_need_user(req, res, buf_str(&back), err);
	if (allowed <= 0)
		return allowed;
	if (workspace_lookup_named(req->store, param(req, "organization"), "settings", &workspace, err) < 0)
		return -1;
	if (workspace.count > 0) {
		const struct workspace_lookup_row *named = row_of(workspace_lookup, &workspace, 0);

		place = (struct place){.organization = named->organization_id, .workspace = named->id};
		if (may_with(req, CAN_READ_WORKSPACE, place, "workspace", &hidden) == 0)
			return redirect(req, res, "/app/:organization/workspaces/settings");
	}
	return redirect(req, res, "/app/:organization/settings/general");
}

/* Finds the page of a run. The answer is "not found" for callers who may not read the run: the address contains the
 * name of its workspace. */
static int run_address(struct request *req, struct buf *ret_address, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, workspace = ROWS_INIT;
	const struct workspace_view_row *of_run;
	const struct run_view_row *found;

	if (run_view(req->store, param(req, "run"), &run, err) < 0)
		return -1;
	found = row_of(run_view, &run, 0);
	if (may_with(req, CAN_READ_RUNS, place_of(found), "run", err) < 0 ||
		workspace_read(req->store, found->workspace_id, &workspace, err) < 0)
		return -1;
	of_run = row_of(workspace_view, &workspace, 0);
	buf_text(ret_address, "/app/");
	buf_url(ret_address, of_run->organization_name);
	buf_text(ret_address, "/workspaces/");
	buf_url(ret_address, of_run->name);
	buf_text(ret_address, "/runs/");
	buf_url(ret_address, found->id);
	return 0;
}

int ui_run(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(buf_release) struct buf back = BUF_INIT(ADDRESS_LIMIT), address = BUF_INIT(ADDRESS_LIMIT);
	int allowed;

	address_of(req, req->route->pattern, &back);
	allowed = page_need_user(req, res, buf_str(&back), err);
	if (allowed <= 0)
		return allowed;
	if (run_address(req, &address, err) < 0)
		return err->kind == ERR_NOT_FOUND
			? page_say(req, res, 404, "No such run", "The run does not exist, or you may not see it.")
			: -1;
	return page_redirect(res, buf_str(&address));
}
