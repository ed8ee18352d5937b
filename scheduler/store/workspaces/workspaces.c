/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/workspaces.h"

#include "proto/states.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/vcs/repositories.h"
#include "scheduler/store/workspaces/projects.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

/* The largest offset at which a list is first searched by the newest runs. */
enum { MAX_NEWEST = 1000 };
#define SORT_NEWEST "-current-run.created-at"

/* All columns of the table by their names: PostgreSQL refuses a prepared `w.*` after a migration that adds a column. */
#define WORKSPACE_OWN_COLUMNS                                                                                          \
	"w.id, w.organization_id, w.pool_id, w.name, w.description, w.auto_apply, w.execution_mode, "                  \
	"w.terraform_version, w.working_directory, w.structured_run_output, w.settings, w.locked_by, "                 \
	"w.locked_reason, w.current_run_id, w.latest_run_id, w.current_state_id, w.current_configuration_id, "         \
	"w.project_id, w.ssh_key_id, w.resource_count, w.latest_change_at, w.run_count, w.run_failures, "              \
	"w.policy_failures, w.plan_milliseconds, w.apply_milliseconds, w.hold_job_id, w.has_queue, w.stands_still, "   \
	"w.destroy_check_at, w.destroy_reminded, w.created_at, w.updated_at, "

/* `user` is the number of the requester's parameter (store/access/response_scope.h). */
#define WORKSPACE_COLUMNS(user)                                                                                        \
	RIGHTS_IN_WORKSPACE(user, "w.organization_id", "w.id")                                                         \
	"as rights, " WORKSPACE_OWN_COLUMNS                                                                            \
	"l.locked_at, o.name as organization_name, u.username as locker, r.id as retention_id, "                       \
	"(select t.id from teams t where t.user_id = w.locked_by and t.kind in ('owners', 'team')) as locker_team, "   \
	"coalesce((o.settings->>'allow-force-delete-workspaces')::boolean, false) as admins_delete, "                  \
	"r.delete_older_than_n_days is null as retains_all, d.destroy_after, w.latest_change_at + "                    \
	"replace(replace(d.destroy_after, 'd', ' days'), 'h', ' hours')::interval as destroy_at, "                     \
	"h.run_id as hold_run_id, h.worker as hold_worker, h.engine_ended as hold_engine_ended, to_char(h.until at "   \
	"time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') as hold_until, h.settled_at is not null as hold_settled, "  \
	"h.began_at as hold_since, h.until as hold_deadline, "                                                         \
	"(select count(*) from "                                                                                       \
	"state_versions k where k.workspace_id = w.id and k.status = 'detached') as kept_states, "                     \
	"case when (w.locked_by is not null or w.hold_job_id is not null) and w.current_run_id is null then (select "  \
	"r.id from runs r where "                                                                                      \
	"r.workspace_id = w.id and r.queued order by r.position limit 1) end as held_run_id, "                         \
	"array_to_json(array(select v.id from variables v where v.workspace_id = w.id order by v.key, v.category)) "   \
	"as variable_ids, array_to_json(array(select t.name from tag_bindings b join tags t on t.id = b.tag_id "       \
	"where b.workspace_id = w.id and b.value = '' order by t.name)) as tag_names, " VCS_USED_BY_WORKSPACE(         \
		"w.id") "as repository "

#define WORKSPACE_JOINS                                                                                                \
	"join organizations o on o.id = w.organization_id left join users u on u.id = w.locked_by "                    \
	"left join workspace_locks l on l.workspace_id = w.id and l.locked_by = w.locked_by "                          \
	"left join workspace_holds h on h.job_id = w.hold_job_id "                                                     \
	"left join data_retention_policies r on r.workspace_id = w.id "                                                \
	"join projects j on j.id = w.project_id cross join lateral (select case when coalesce("                        \
	"(w.settings->>'inherits-project-auto-destroy')::boolean, true) then j.settings else w.settings end"           \
	"->>'auto-destroy-activity-duration' as destroy_after) d "

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "workspace not found");
}

int workspace_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspaces_read, .id = id, .user = response_scope_user(store->scope)) <
		0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int workspace_read_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspaces_read, .id = id, .user = response_scope_user(store->scope));
}

int workspace_read_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspaces_read_named, .organization = organization, .name = name,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int workspace_read_named_ask(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspaces_read_named, .organization = organization, .name = name,
		.user = response_scope_user(store->scope));
}

int workspaces_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(
		store->db, ret_rows, err, workspaces_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int workspace_lookup(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspaces_lookup, .id = id);
}

int workspace_lookup_ask(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, workspaces_lookup, .id = id);
}

int workspace_lookup_named(
	struct store *store, const char *organization, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_lookup_named, .organization = organization, .name = name);
}

/* Converts a pattern with asterisks to one of `like`, and escapes the special characters of `like`. */
#define WILDCARD(text)                                                                                                 \
	"replace(replace(replace(replace(lower(" text "), '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')"

/* Conditions of a list, on workspaces f: on the name, and all others. */
#define NAMED                                                                                                          \
	"($2::text is null or strpos(lower(f.name), lower($2)) > 0) "                                                  \
	"and ($3::text is null or lower(f.name) like " WILDCARD("$3") ") "

/* Index lookups for each row of the tables before them. `offset 0` makes PostgreSQL plan them separately: a list by tag
 * takes 22 ms instead of 1,200, one by name 48 instead of 260 (10,000 workspaces, also with fresh statistics). */
#define TAGGED_T "lateral (select workspace_id, value from effective_tags where tag_id = t.id offset 0) e "
#define FOUND_D  "lateral (select * from workspaces where id = d.id offset 0) f "

#define TAGGED_ANY(names)                                                                                              \
	"e.workspace_id from tags t cross join " TAGGED_T "where t.organization_id = $1 and lower(t.name) = "          \
	"any(string_to_array(lower(" names "), ','))"

#define LISTED                                                                                                         \
	"f.organization_id = $1 and " NAMED "and ($4::text is null or exists (select 1 from runs r where r.id = "      \
	"coalesce(f.current_run_id, f.latest_run_id) and r.status = any(string_to_array($4, ',')))) "                  \
	"and ($5::text is null or f.project_id = any(string_to_array($5, ','))) "                                      \
	"and ($8::text is null or f.id not in (select " TAGGED_ANY("$8") ")) "                                         \
									 "and " WORKSPACE_IN_SCOPE(                    \
										 "$11", "$12", "f.id")

/* Workspaces that have all of the tags. */
#define TAGGED                                                                                                         \
	"select e.workspace_id from unnest($6::text[], $7::text[]) with ordinality x(key, value, place) "              \
	"join tags t on t.organization_id = $1 and lower(t.name) = lower(x.key) "                                      \
	"join " TAGGED_T "on x.value = '' or e.value = x.value "                                                       \
	"group by e.workspace_id having count(distinct x.place) = array_length($6::text[], 1)"

/* Workspaces whose current run has one of the statuses. `$13` is true if only runs that have not ended have these
 * statuses. */
#define LIVE                                                                                                           \
	"select f.id from runs r cross join lateral (select id from workspaces where id = r.workspace_id and "         \
	"coalesce(current_run_id, latest_run_id) = r.id offset 0) f where r.organization_id = $1 and not r.ended "     \
	"and r.status = any(string_to_array($4, ',')) "

/* The candidate workspaces for the other conditions: the smallest set that an index finds. Only one part of the union
 * is active; conditions on the absent filters disable the others. */
#define AMONG                                                                                                          \
	"select f.id from workspaces f where f.organization_id = $1 and $6::text[] is null and $5::text is null "      \
	"and $11::boolean and not $13::boolean and " NAMED "union all " LIVE                                           \
	"and $6 is null and $5 is null and $11 and $13 union all "                                                     \
	"select id from workspaces where project_id = any(string_to_array($5, ',')) and $6 is null "                   \
	"and $11::boolean union all "                                                                                  \
	"(" TAGGED ") union all "                                                                                      \
	"select distinct s.workspace_id from (" WORKSPACES_IN_SCOPE(                                                   \
		"$12") ") s where $6 is null and not $11::boolean "

#define CURRENT_RUN "left join runs c on c.id = coalesce(f.current_run_id, f.latest_run_id) "

/* The page `p` of workspaces, each with its position, and the total count (`t`). */
#define SHOWN(user)                                                                                                    \
	"select t.total, w.* from t left join (select p.place, " WORKSPACE_COLUMNS(                                    \
		user) "from p join workspaces w on w.id = p.id " WORKSPACE_JOINS ") w on true order by w.place"

/* The page's rows from one end, with their places. They are selected before any join, if possible in the order of an
 * index, so a skipped row costs only one step in that index. */
#define PLACED(from, order, sign, page)                                                                                \
	"(select id, " sign "row_number() over () as place from (select f.id from " from "order by " order " " page    \
	") cut) "

/* All workspaces of an organization, or all but those with one of the tags $5: the most frequent list. Their number is
 * in organization_totals, and the page is read from the nearer end: 5,000 skipped rows take 1 ms, so the last page of
 * 100,000 workspaces takes 20 ms less. The other end's part has a limit of 0 rows. */
#define OWN_TOTAL                                                                                                      \
	"x as materialized (select distinct " TAGGED_ANY(                                                              \
		"$5") "), "                                                                                            \
		      "t as (select total, $3::bigint * 2 <= total as ahead, greatest(total - $3, 0) as rest from ("   \
		      "select coalesce((select workspaces from organization_totals where organization_id = $1), 0) - " \
		      "(select count(*) from x) as total) n), "
#define OWN   "where f.organization_id = $1 and f.id not in (select workspace_id from x) "
#define AHEAD "limit (select case when ahead then $2 else 0 end from t) offset $3"
#define BACKWARD                                                                                                       \
	"limit (select case when ahead then 0 else least($2, rest) end from t) "                                       \
	"offset (select greatest(rest - $2::bigint, 0) from t)"
#define WHOLE(from, order, back)                                                                                       \
	"(with " OWN_TOTAL "p as (" PLACED(from OWN, order, "", AHEAD) "union all " PLACED(                            \
		from OWN, back, "-", BACKWARD) ") " SHOWN("$4") ")"

/* Workspaces that match conditions; these are counted. */
#define SOME(join, order)                                                                                              \
	"(with f as materialized (select f.id, f.name, f.created_at, f.latest_change_at, f.current_run_id, "           \
	"f.latest_run_id from (" AMONG ") d cross join " FOUND_D "where " LISTED "), "                                 \
	"t as (select count(*) as total from f), "                                                                     \
	"p as " PLACED("f " join, order, "", "limit $9 offset $10") SHOWN("$12") ")"

#define SORT(name, join, order, back)                                                                                  \
	{                                                                                                              \
		name, WHOLE("workspaces f " join, order, back), SOME(join, order)                                      \
	}

/* The first row is the order without `sort`. Each row has its order, and the same backwards. */
static const struct sort {
	const char *name, *whole, *some;
} sorts[] = {
	SORT(NULL, "", "f.created_at, f.id", "f.created_at desc, f.id desc"),
	SORT("name", "", "lower(f.name)", "lower(f.name) desc"),
	SORT("-name", "", "lower(f.name) desc", "lower(f.name)"),
	SORT("current-run.created-at", CURRENT_RUN, "c.position nulls last, f.created_at, f.id",
		"c.position desc nulls first, f.created_at desc, f.id desc"),
	SORT(SORT_NEWEST, CURRENT_RUN, "c.position desc nulls last, f.created_at, f.id",
		"c.position nulls first, f.created_at desc, f.id desc"),
	SORT("latest-change-at", "", "f.latest_change_at, f.id", "f.latest_change_at desc, f.id desc"),
	SORT("-latest-change-at", "", "f.latest_change_at desc, f.id desc", "f.latest_change_at, f.id"),
};

static const struct sort *sort_find(const char *name)
{
	for (size_t i = 1; i < ARRAY_LEN(sorts); i++)
		if (text_equal(sorts[i].name, name))
			return &sorts[i];
	return &sorts[0];
}

/* Whether the list has no filter but excluded tags. */
static bool list_is_whole(const struct workspace_list *list, bool everywhere)
{
	return everywhere && !list->name && !list->wildcard && !list->run_status && !list->project_ids &&
		!list->tag_keys->count;
}

/* Returns 1 if a page of the newest runs is full, 0 if that is inconclusive. */
static int list_newest(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	if (!text_equal(list->sort, SORT_NEWEST) || list->without_tags || list->offset >= MAX_NEWEST)
		return 0;
	if (db_query(store->db, ret_rows, err, workspaces_newest, .organization_id = list->organization_id,
		    .limit = list->limit, .offset = list->offset, .user = response_scope_user(store->scope)) < 0)
		return -1;
	if (ret_rows->count == list->limit && !row_null(ret_rows, 0, "id"))
		return 1;
	rows_release(ret_rows);
	return 0;
}

static int list_whole(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	int found = list_newest(store, list, ret_rows, err);

	if (found)
		return found < 0 ? -1 : 0;
	return db_query_sql(store->db, ret_rows, err, sort_find(list->sort)->whole, P_TEXT(list->organization_id),
		P_INT(list->limit), P_INT(list->offset), P_TEXT(response_scope_user(store->scope)),
		P_TEXT(list->without_tags));
}

int workspaces_list(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	struct db_array *keys = list->tag_keys, *values = list->tag_values;
	bool everywhere = response_scope_all(store->scope, list->organization_id, CAN_READ_WORKSPACE);

	if (list_is_whole(list, everywhere))
		return list_whole(store, list, ret_rows, err);
	return db_query_sql(store->db, ret_rows, err, sort_find(list->sort)->some, P_TEXT(list->organization_id),
		P_TEXT(list->name), P_TEXT(list->wildcard), P_TEXT(list->run_status), P_TEXT(list->project_ids),
		P_TEXT(keys->count ? db_array_text(keys) : NULL), P_TEXT(keys->count ? db_array_text(values) : NULL),
		P_TEXT(list->without_tags), P_INT(list->limit), P_INT(list->offset), P_BOOL(everywhere),
		P_TEXT(response_scope_user(store->scope)), P_BOOL(run_statuses_are_live(list->run_status)));
}

/* ---- creating and changing ---- */

/* Locks the organization's row until the workspace is inserted, so that concurrent creations respect the limit. */
static int limit_check(struct store *store, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows limit = ROWS_INIT, rows = ROWS_INIT;

	if (db_query(store->db, &limit, err, limit_check_lock, .organization_id = organization_id) < 0)
		return -1;
	if (!limit.count)
		return 0;
	if (db_query(store->db, &rows, err, limit_check_read, .organization_id = organization_id) < 0)
		return -1;
	if (row_of(limit_check_read, &rows, 0)->there < row_of(limit_check_lock, &limit, 0)->max)
		return 0;
	return err_set(err, ERR_INVALID, "The organization has as many workspaces as its limit allows (%lld)",
		row_of(limit_check_lock, &limit, 0)->max);
}

int workspace_create(struct store *store, const char *organization_id, struct workspace_attributes attributes,
	struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *fields_text = json_text(attributes.fields);
	_cleanup_(freep) char *settings_text = json_text(attributes.settings);
	struct id id = id_new("ws");

	if (limit_check(store, organization_id, err) < 0)
		return -1;
	if (db_query(store->db, NULL, err, workspace_create, .id = id.text, .organization_id = organization_id,
		    .fields_text = fields_text, .settings_text = settings_text) < 0)
		return name_taken(store, "workspaces_name", err);
	*ret_id = id;
	return 0;
}

int workspace_update(struct store *store, const char *id, struct workspace_attributes attributes, struct err *err)
{
	_cleanup_(freep) char *fields_text = json_text(attributes.fields);
	_cleanup_(freep) char *settings_text = json_text(attributes.settings);

	if (db_query(store->db, NULL, err, workspace_update, .id = id, .fields_text = fields_text,
		    .settings_text = settings_text) < 0)
		return name_taken(store, "workspaces_name", err);
	return 0;
}

int workspaces_inherit_mode(struct store *store, const char *organization_id, struct err *err)
{
	return db_query(store->db, NULL, err, workspaces_inherit_mode, .organization_id = organization_id);
}

/* ---- deleting ---- */

struct deletion {
	struct store *store;
	const char *id;
	bool safe;
};

static int delete_check(const struct rows *rows, bool applying, bool safe, struct err *err)
{
	if (!rows->count)
		return not_found(err);
	if (row_of(workspaces_delete_lock, rows, 0)->held)
		return err_set(err, ERR_CONFLICT,
			"the workspace is held until the last state of a lost apply has arrived: force-unlock it "
			"first");
	if (safe && row_of(workspaces_delete_lock, rows, 0)->locked)
		return err_set(err, ERR_CONFLICT, "the workspace is locked: it can't be deleted safely");
	if (applying)
		return err_set(err, ERR_CONFLICT, "an apply of the workspace is being worked on: cancel it first");
	if (safe && row_of(workspaces_delete_lock, rows, 0)->processing)
		return err_set(err, ERR_CONFLICT,
			"the workspace's latest state is still being processed: whether it manages resources is not "
			"known yet");
	if (safe && row_of(workspaces_delete_lock, rows, 0)->manages)
		return err_set(err, ERR_CONFLICT,
			"the workspace is managing resources: destroy them first, or force its deletion");
	return 0;
}

/* Locks the jobs, so that no worker claims one between the check and the deletion. */
static int jobs_lock(struct store *store, const char *id, bool *ret_applying, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, jobs_lock, .id = id) < 0)
		return -1;
	*ret_applying = false;
	for (int i = 0; i < rows.count; i++)
		*ret_applying |= row_of(jobs_lock, &rows, i)->applying;
	return 0;
}

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool applying;

	if (db_query(d->store->db, &rows, err, workspaces_delete_lock, .id = d->id) < 0 ||
		jobs_lock(d->store, d->id, &applying, err) < 0 || delete_check(&rows, applying, d->safe, err) < 0)
		return -1;
	/* Runs refer to configuration versions, so they are deleted first. */
	if (db_query(d->store->db, NULL, err, workspaces_delete, .id = d->id) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, workspaces_delete_delete_2, .id = d->id);
}

int workspace_delete(struct store *store, const char *id, bool safe, struct err *err)
{
	struct deletion d = {store, id, safe};

	return db_transaction(store->db, delete_in, &d, err);
}

int workspace_guarded(struct store *store, const char *id, bool *ret_guarded, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, workspace_guarded, .id = id) < 0)
		return -1;
	*ret_guarded = rows.count > 0;
	return 0;
}

/* ---- moving ---- */

struct moving {
	struct store *store;
	const char *organization_id, *project_id;
	const json_t *ids;
};

static int move_in(void *data, struct err *err)
{
	const struct moving *m = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, m->ids);
	if (db_query(m->store->db, &rows, err, workspaces_move, .organization_id = m->organization_id,
		    .project_id = m->project_id, .ids = &ids) < 0)
		return -1;
	if (row_of(workspaces_move, &rows, 0)->found != (long long)json_array_size(m->ids))
		return err_at(err, "/data", "Workspaces must exist in the project's organization");
	if (vcs_available_check(m->store, m->ids, "/data", err) < 0)
		return -1;
	return workspaces_inherit_mode(m->store, m->organization_id, err);
}

int workspaces_move(
	struct store *store, const char *organization_id, const char *project_id, const json_t *ids, struct err *err)
{
	struct moving m = {store, organization_id, project_id, ids};

	return db_transaction(store->db, move_in, &m, err);
}

/* ---- the lock ---- */

int workspace_lock(struct store *store, const char *id, const char *user_id, const char *reason, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, workspace_lock, .id = id, .user_id = user_id, .reason = reason) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the workspace is already locked");
}

struct unlocking {
	struct store *store;
	const char *id, *user_id;
	bool force;
};

static int unlock_check(const struct rows *rows, const struct unlocking *u, struct err *err)
{
	const char *locker = rows->count ? row_of(workspaces_unlock_lock, rows, 0)->locked_by : NULL;
	const char *run = rows->count ? row_of(workspaces_unlock_lock, rows, 0)->run : NULL;

	if (!rows->count)
		return not_found(err);
	if (!locker && run)
		return err_set(err, ERR_CONFLICT, "the workspace is locked by Run %s", run);
	if (!locker)
		return err_set(err, ERR_CONFLICT, "the workspace is already unlocked");
	if (!u->force && !text_equal(locker, u->user_id) && row_of(workspaces_unlock_lock, rows, 0)->team)
		return err_set(err, ERR_CONFLICT, "the workspace is locked by Team %s",
			row_of(workspaces_unlock_lock, rows, 0)->team);
	if (!u->force && !text_equal(locker, u->user_id))
		return err_set(err, ERR_CONFLICT, "the workspace is locked by User %s",
			row_of(workspaces_unlock_lock, rows, 0)->username);
	if (!u->force && row_of(workspaces_unlock_lock, rows, 0)->state_pending)
		return err_set(err, ERR_INVALID, "the workspace's latest state version is still pending");
	return 0;
}

static int unlock_in(void *data, struct err *err)
{
	const struct unlocking *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(u->store->db, &rows, err, workspaces_unlock_lock, .id = u->id) < 0 ||
		unlock_check(&rows, u, err) < 0)
		return -1;
	return db_query(u->store->db, NULL, err, workspaces_unlock_update, .id = u->id);
}

int workspace_unlock(struct store *store, const char *id, const char *user_id, bool force, struct err *err)
{
	struct unlocking u = {store, id, user_id, force};

	return db_transaction(store->db, unlock_in, &u, err);
}
