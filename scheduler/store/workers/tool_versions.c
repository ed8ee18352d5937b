/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/tool_versions.h"

#include "proto/version.h"
#include "scheduler/store/names.h"

#define COLUMNS                                                                                                        \
	"v.id, v.tool, v.version, v.archs, v.official, v.enabled, v.beta, v.deprecated, v.deprecated_reason, "         \
	"v.created_at, case v.tool when 'terraform' then (select count(*) from workspaces w "                          \
	"where w.terraform_version = v.version and w.terraform_version <> '') else (select count(*) from policy_sets " \
	"s "                                                                                                           \
	"where s.kind = v.tool and s.policy_tool_version = v.version) end as usage "

int tool_versions_list(struct store *store, const struct tool_versions *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id, row_number() over (order by "
		"string_to_array(substring(version from '^[0-9.]+'), '.')::numeric[] desc, version desc) as n "
		"from tool_versions where tool = $1 and ($2::text is null or version = $2) "
		"and ($3::text is null or strpos(version, $3) > 0)) "
		"select c.total, f.* from (select count(*) as total from found) c left join (select x.n, " COLUMNS
		"from (select * from found order by n limit $4 offset $5) x join tool_versions v on v.id = x.id) f "
		"on true order by f.n",
		P_TEXT(list->tool), P_TEXT(list->exact), P_TEXT(list->search), P_INT(list->limit), P_INT(list->offset));
}

int tool_version_read(struct store *store, const char *tool, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from tool_versions v where id = $1 and tool = $2",
		    P_TEXT(id), P_TEXT(tool)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%s version not found", tool);
}

static int version_taken(struct store *store, struct err *err)
{
	return value_taken(store, "tool_versions_version", "Version", "/data/attributes/version", err);
}

#define FIELDS                                                                                                         \
	"f->>'version', f->'archs', (f->>'official')::boolean, (f->>'enabled')::boolean, (f->>'beta')::boolean, "      \
	"(f->>'deprecated')::boolean, f->>'deprecated-reason' "
#define FIELD_COLUMNS "version, archs, official, enabled, beta, deprecated, deprecated_reason"

int tool_version_create(struct store *store, const char *tool, const json_t *fields, struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *text = json_text(fields);
	struct id id = id_new("tool");

	if (db_query(store->db, NULL, err,
		    "insert into tool_versions (id, tool, " FIELD_COLUMNS ") select $1, $2, " FIELDS
		    "from (select $3::jsonb as f) x",
		    P_TEXT(id.text), P_TEXT(tool), P_TEXT(text)) < 0)
		return version_taken(store, err);
	*ret_id = id;
	return 0;
}

int tool_version_update(struct store *store, const char *id, const json_t *fields, struct err *err)
{
	_cleanup_(freep) char *text = json_text(fields);

	if (db_query(store->db, NULL, err,
		    "update tool_versions set (" FIELD_COLUMNS ") = (select " FIELDS
		    "from (select $2::jsonb as f) x) where id = $1",
		    P_TEXT(id), P_TEXT(text)) < 0)
		return version_taken(store, err);
	return 0;
}

int tool_version_delete(struct store *store, const char *tool, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (tool_version_read(store, tool, id, &rows, err) < 0)
		return -1;
	/* Policy sets do not count, because they may name versions that are not listed. */
	if (text_equal(tool, "terraform") && row_int(&rows, 0, "usage"))
		return err_set(err, ERR_CONFLICT, "the version is used by workspaces (%lld): disable it instead",
			row_int(&rows, 0, "usage"));
	return db_query(store->db, NULL, err, "delete from tool_versions where id = $1", P_TEXT(id));
}

int tool_version_check(struct store *store, const char *version, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct version exact;

	if (version_exact(version, &exact) < 0)
		return 0;
	if (db_query(store->db, &rows, err,
		    "select 1 from tool_versions where tool = 'terraform' and version = $1 and not enabled",
		    P_TEXT(exact.text)) < 0)
		return -1;
	if (rows.count)
		return err_at(err, pointer, "Version %s is disabled on this installation: choose another", exact.text);
	return 0;
}
