/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/schedules/schedules.h"

#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/schedules/schedules.sql.h"

/* Schedules of a workspace. The runs of a schedule have the rights of the person who saved it last. */

static const struct inclusion includes[] = {
	{"last_run", "schedules", "last-run", &kind_runs},
	{"created_by", "schedules", "created-by", &kind_users},
	{"run_as", "schedules", "run-as", &kind_users},
};

/* ---- the resource ---- */

static int occurrences_json(
	struct store *store, const struct schedule_row *schedule, json_t **ret_times, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (schedule_occurrences(store, schedule, &rows, err) < 0)
		return -1;
	*ret_times = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(*ret_times, time_shown(row_of(schedule_moments, &rows, i)->at));
	if (!rows.count && schedule->enabled && schedule->at)
		json_array_append_new(*ret_times, time_shown(schedule->at));
	return 0;
}

static int schedule_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct schedule_row *s = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/schedules/%s", s->id);
	json_t *times;

	if (occurrences_json(store, s, &times, err) < 0)
		return -1;
	*ret_resource = resource_new("schedules", s->id,
		json_pack("{ss ss sb so so so sI sb so so so so so so so so}", "name", s->name, "kind", s->kind,
			"auto-apply", s->auto_apply, "cron", json_string_or_null(s->cron), "time-zone",
			json_string_or_null(s->time_zone), "at", time_shown(s->at), "jitter-seconds",
			(json_int_t)s->jitter_seconds, "enabled", s->enabled, "stopped-reason",
			json_string_or_null(s->stopped_reason), "next-at", time_shown(s->next_at), "next-occurrences",
			times, "last-at", time_shown(s->last_at), "last-outcome", json_string_or_null(s->last_outcome),
			"last-reason", json_string_or_null(s->last_reason), "created-at", time_shown(s->created_at),
			"updated-at", time_shown(s->updated_at)),
		json_pack("{so so so so}", "workspace", to_one("workspaces", s->workspace_id), "last-run",
			to_one("runs", s->last_run_id), "created-by", to_one("users", s->created_by), "run-as",
			to_one("users", s->run_as)));
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static const struct resource_kind kind_schedules = {
	.type = "schedules", .make = schedule_resource, KIND_INCLUDES(includes)};

static int schedule_respond(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (schedule_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_schedules, &rows}, err);
}

/* ---- reading ---- */

static int list_page(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return schedules_list(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int schedules_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_schedules, .scope = scope_workspace, .read = list_page}, err);
}

static int schedule_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	if (schedule_read(req->store, param(req, "schedule"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(schedule, ret_rows, 0)), "schedule", err);
}

int schedules_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_schedules, err) < 0 || schedule_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_schedules, &rows}, err);
}

/* ---- input ---- */

static int kind_check(const char *kind, struct err *err)
{
	static const char *const kinds[] = {"plan", "plan-and-apply", "refresh-only", "destroy"};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (text_equal(kinds[i], kind))
			return 0;
	return err_at(err, "/data/attributes/kind", "Kind must be plan, plan-and-apply, refresh-only or destroy");
}

static int times_check(struct schedule *s, struct err *err)
{
	struct cron cron;
	struct err why = ERR_INIT;

	if (!s->cron == !s->at)
		return err_at(err, "/data/attributes/cron", "Cron or at must be given, and not both");
	if (!s->cron) {
		s->time_zone = NULL;
		return 0;
	}
	if (cron_parse(s->cron, &cron, &why) < 0)
		return err_at(err, "/data/attributes/cron", "%s", why.message);
	if (!s->time_zone)
		s->time_zone = "UTC";
	return length_check("Time zone", "/data/attributes/time-zone", s->time_zone, 64, err);
}

static int input_check(struct schedule *s, struct err *err)
{
	if (title_check("Name", "/data/attributes/name", s->name, MAX_SCHEDULE_NAME, err) < 0 ||
		kind_check(s->kind, err) < 0)
		return -1;
	if (s->jitter_seconds < 0 || s->jitter_seconds > MAX_JITTER_SECONDS)
		return err_at(err, "/data/attributes/jitter-seconds", "Jitter seconds must be from 0 to %d",
			MAX_JITTER_SECONDS);
	if (text_equal(s->kind, "plan"))
		s->auto_apply = false;
	return times_check(s, err);
}

/* A person who saves a schedule must have the rights that its runs need. */
static int rights_check(const struct request *req, const struct schedule *s, struct place place, struct err *err)
{
	struct err ignored = ERR_INIT;

	if (!req->actor.user.text[0] || may_with(req, CAN_QUEUE_RUN, place, "workspace", &ignored) < 0)
		return err_at(
			err, "/data/attributes/kind", "Kind needs the right to queue runs, which you do not have");
	if ((s->auto_apply || text_equal(s->kind, "destroy")) &&
		may_with(req, CAN_APPLY, place, "workspace", &ignored) < 0)
		return err_at(
			err, "/data/attributes/kind", "Kind needs the right to apply runs, which you do not have");
	return 0;
}

/* Reads a body into *schedule. Attributes that were not sent stay as they are; a time replaces the other kind of
 * time. */
static int input_read(const struct request *req, struct schedule *s, struct place place, struct err *err)
{
	const char *cron = NULL, *at = NULL;

	if (body_check(req, "schedules", err) < 0 || body_text(req, "name", &s->name, err) < 0 ||
		body_text(req, "kind", &s->kind, err) < 0 || body_text(req, "cron", &cron, err) < 0 ||
		body_text(req, "time-zone", &s->time_zone, err) < 0 || body_text(req, "at", &at, err) < 0 ||
		body_int(req, "jitter-seconds", &s->jitter_seconds, err) < 0 ||
		body_bool(req, "auto-apply", &s->auto_apply, err) < 0 ||
		body_bool(req, "enabled", &s->enabled, err) < 0)
		return -1;
	if (at && !time_valid(at))
		return err_at(err, "/data/attributes/at", "At must be a time (RFC 3339)");
	if (body_has(req, "cron") || at)
		s->cron = cron;
	if (body_has(req, "at") || cron)
		s->at = at;
	s->run_as = req->actor.user.text;
	return input_check(s, err) < 0 || rights_check(req, s, place, err) < 0 ? -1 : 0;
}

/* ---- changing ---- */

int schedules_create(struct request *req, struct response *res, struct err *err)
{
	struct schedule schedule = {.auto_apply = true, .enabled = true};
	struct scope scope;
	struct id id;

	if (scope_workspace(req, &scope, err) < 0)
		return -1;
	if (input_read(req, &schedule,
		    (struct place){.organization = scope.organization.text, .workspace = scope.workspace.text},
		    err) < 0 ||
		schedule_create(req->store, scope.workspace.text, &schedule, &id, err) < 0)
		return -1;
	return schedule_respond(req, res, 201, id.text, err);
}

int schedules_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct schedule_row *row;
	struct schedule schedule;

	if (schedule_in_path(req, &rows, err) < 0)
		return -1;
	row = row_of(schedule, &rows, 0);
	schedule = (struct schedule){.name = row->name,
		.kind = row->kind,
		.cron = row->cron,
		.time_zone = row->time_zone,
		.at = row->at,
		.jitter_seconds = row->jitter_seconds,
		.auto_apply = row->auto_apply || text_equal(row->kind, "plan"),
		.enabled = row->enabled};
	if (input_read(req, &schedule, place_of(row), err) < 0 ||
		schedule_update(req->store, row->id, &schedule, err) < 0)
		return -1;
	return schedule_respond(req, res, 200, row->id, err);
}

int schedules_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (schedule_in_path(req, &rows, err) < 0 ||
		schedule_delete(req->store, row_of(schedule, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
