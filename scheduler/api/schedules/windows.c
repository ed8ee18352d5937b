/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/schedules/windows.h"

#include <stdio.h>

#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/projects.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/scope.h"
#include "scheduler/lifecycle/schedules/cron.h"
#include "scheduler/store/schedules/windows.sql.h"

/* Maintenance windows of organizations, projects and workspaces. */

static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/* ---- the resource ---- */

static json_t *owner_link(const struct maintenance_window_row *w)
{
	if (w->workspace_id)
		return to_one("workspaces", w->workspace_id);
	return w->project_id ? to_one("projects", w->project_id) : to_one("organizations", w->organization_id);
}

static json_t *window_resource(const void *of_row)
{
	const struct maintenance_window_row *w = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/maintenance-windows/%s", w->id);
	_cleanup_(freep) char *start = mem_printf("%02lld:%02lld", w->start_minute / 60, w->start_minute % 60);
	json_t *days = json_array(), *resource;

	for (size_t i = 0; i < ARRAY_LEN(day_names); i++)
		if (w->days >> i & 1)
			json_array_append_new(days, json_string(day_names[i]));
	resource = resource_new("maintenance-windows", w->id,
		json_pack("{ss so ss sI ss so so}", "name", w->name, "days", days, "start", start, "duration-minutes",
			(json_int_t)w->duration_minutes, "time-zone", w->time_zone, "created-at",
			time_shown(w->created_at), "updated-at", time_shown(w->updated_at)),
		json_pack("{so}", "owner", owner_link(w)));
	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct resource_kind kind_windows = {.type = "maintenance-windows", .show = window_resource};

static int window_respond(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (maintenance_window_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_windows, &rows}, err);
}

/* ---- the owner in the path ---- */

struct owner_ids {
	struct id organization, project, workspace;
};

static int owner_in_path(struct request *req, struct owner_ids *ret_ids, struct err *err)
{
	_cleanup_(rows_release) struct rows project = ROWS_INIT;
	struct scope scope;

	*ret_ids = (struct owner_ids){0};
	if (*param(req, "project")) {
		if (project_in_path(req, &project, err) < 0)
			return -1;
		text_copy(ret_ids->organization.text, ID_SIZE, row_of(project, &project, 0)->organization_id);
		text_copy(ret_ids->project.text, ID_SIZE, row_of(project, &project, 0)->id);
		return 0;
	}
	if (*param(req, "workspace") ? scope_workspace(req, &scope, err) < 0 : scope_organization(req, &scope, err) < 0)
		return -1;
	ret_ids->organization = scope.organization;
	ret_ids->workspace = scope.workspace;
	return 0;
}

static struct window_owner owner_of(const struct owner_ids *ids)
{
	return (struct window_owner){
		ids->organization.text, text_or_null(ids->project.text), text_or_null(ids->workspace.text)};
}

/* The route's permission is that of a workspace. Windows of other owners need that of their owner. */
static int window_in_path(const struct request *req, enum permission of_project, enum permission of_organization,
	struct rows *ret_rows, struct err *err)
{
	const struct maintenance_window_row *w;
	struct place place;

	if (maintenance_window_read(req->store, param(req, "window"), ret_rows, err) < 0)
		return -1;
	w = row_of(maintenance_window, ret_rows, 0);
	place = (struct place){
		.organization = w->organization_id, .project = w->project_id, .workspace = w->workspace_id};
	if (w->workspace_id)
		return may(req, place, "maintenance window", err);
	return may_with(req, w->project_id ? of_project : of_organization, place, "maintenance window", err);
}

/* ---- reading ---- */

int maintenance_windows_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct owner_ids ids;
	struct window_owner owner;
	struct page page;

	if (page_read(req, &page, err) < 0 || owner_in_path(req, &ids, err) < 0)
		return -1;
	owner = owner_of(&ids);
	if (maintenance_windows_list(req->store, &owner, (struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_windows, &rows}, err);
}

int maintenance_windows_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (window_in_path(req, CAN_READ_PROJECT, CAN_READ_ORGANIZATION, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_windows, &rows}, err);
}

/* ---- input ---- */

static int days_read(const struct request *req, unsigned *days, struct err *err)
{
	static const char pointer[] = "/data/attributes/days";
	const json_t *sent = NULL, *item;
	unsigned read = 0;
	size_t i, day;

	if (body_texts(req, "days", &sent, err) < 0)
		return -1;
	json_array_foreach((json_t *)sent, i, item)
	{
		for (day = 0; day < ARRAY_LEN(day_names); day++)
			if (text_equal(day_names[day], json_string_value(item)))
				break;
		if (day == ARRAY_LEN(day_names))
			return err_at(err, pointer, "Days must be of sun, mon, tue, wed, thu, fri and sat");
		read |= 1u << day;
	}
	if (body_has(req, "days"))
		*days = read;
	return *days ? 0 : err_at(err, pointer, "Days can't be empty");
}

static int start_read(const struct request *req, long long *minute, struct err *err)
{
	_cleanup_(freep) char *at = NULL;
	const char *text = NULL;
	struct cron_time time;

	if (body_text(req, "start", &text, err) < 0)
		return -1;
	if (!text && *minute >= 0 && !body_has(req, "start"))
		return 0;
	at = mem_printf("2000-01-01 %s", text_or_empty(text));
	if (!cron_time_read(at, &time))
		return err_at(err, "/data/attributes/start", "Start must be a local time, such as 22:00");
	*minute = time.hour * 60 + time.minute;
	return 0;
}

static int input_read(const struct request *req, struct maintenance_window *w, struct err *err)
{
	if (body_check(req, "maintenance-windows", err) < 0 || body_text(req, "name", &w->name, err) < 0 ||
		body_text(req, "time-zone", &w->time_zone, err) < 0 ||
		body_int(req, "duration-minutes", &w->duration_minutes, err) < 0 ||
		title_check("Name", "/data/attributes/name", w->name, MAX_WINDOW_NAME, err) < 0 ||
		days_read(req, &w->days, err) < 0 || start_read(req, &w->start_minute, err) < 0)
		return -1;
	if (w->duration_minutes < 1 || w->duration_minutes > DAY_MINUTES)
		return err_at(
			err, "/data/attributes/duration-minutes", "Duration minutes must be from 1 to %d", DAY_MINUTES);
	if (!w->time_zone)
		w->time_zone = "UTC";
	return length_check("Time zone", "/data/attributes/time-zone", w->time_zone, 64, err);
}

/* ---- changing ---- */

int maintenance_windows_create(struct request *req, struct response *res, struct err *err)
{
	struct maintenance_window window = {.start_minute = -1};
	struct owner_ids ids;
	struct window_owner owner;
	struct id id;

	if (owner_in_path(req, &ids, err) < 0 || input_read(req, &window, err) < 0)
		return -1;
	owner = owner_of(&ids);
	if (maintenance_window_create(req->store, &owner, &window, &id, err) < 0)
		return -1;
	return window_respond(req, res, 201, id.text, err);
}

int maintenance_windows_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct maintenance_window_row *row;
	struct maintenance_window window;

	if (window_in_path(req, CAN_MANAGE_PROJECT, CAN_MANAGE_ORGANIZATION, &rows, err) < 0)
		return -1;
	row = row_of(maintenance_window, &rows, 0);
	window = (struct maintenance_window){
		row->name, row->time_zone, (unsigned)row->days, row->start_minute, row->duration_minutes};
	if (input_read(req, &window, err) < 0 || maintenance_window_update(req->store, row->id, &window, err) < 0)
		return -1;
	return window_respond(req, res, 200, row->id, err);
}

int maintenance_windows_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (window_in_path(req, CAN_MANAGE_PROJECT, CAN_MANAGE_ORGANIZATION, &rows, err) < 0 ||
		maintenance_window_delete(req->store, row_of(maintenance_window, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
