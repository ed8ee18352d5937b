/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/tool_versions.h"

#include "proto/version.h"
#include "scheduler/store/names.h"
#include "scheduler/store/workers/tool_versions.sql.h"

int tool_versions_list(struct store *store, const struct tool_versions *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, tool_versions_list, .tool = list->tool, .exact = list->exact,
		.search = list->search, .limit = list->limit, .offset = list->offset);
}

int tool_version_read(struct store *store, const char *tool, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, tool_version_read, .id = id, .tool = tool) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%s version not found", tool);
}

static int version_taken(struct store *store, struct err *err)
{
	return value_taken(store, "tool_versions_version", "Version", "/data/attributes/version", err);
}

int tool_version_create(struct store *store, const char *tool, const json_t *fields, struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *text = json_text(fields);
	struct id id = id_new("tool");

	if (db_query(store->db, NULL, err, tool_version_create, .id = id.text, .tool = tool, .fields = text) < 0)
		return version_taken(store, err);
	*ret_id = id;
	return 0;
}

int tool_version_update(struct store *store, const char *id, const json_t *fields, struct err *err)
{
	_cleanup_(freep) char *text = json_text(fields);

	if (db_query(store->db, NULL, err, tool_version_update, .id = id, .fields = text) < 0)
		return version_taken(store, err);
	return 0;
}

int tool_version_delete(struct store *store, const char *tool, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	long long usage;

	if (tool_version_read(store, tool, id, &rows, err) < 0)
		return -1;
	usage = row_of(tool_version, &rows, 0)->usage;
	/* Policy sets do not count, because they may name versions that are not listed. */
	if (text_equal(tool, "terraform") && usage)
		return err_set(
			err, ERR_CONFLICT, "the version is used by workspaces (%lld): disable it instead", usage);
	return db_query(store->db, NULL, err, tool_version_delete, .id = id);
}

int tool_version_check(struct store *store, const char *version, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct version exact;

	if (version_exact(version, &exact) < 0)
		return 0;
	if (db_query(store->db, &rows, err, tool_version_check, .version = exact.text) < 0)
		return -1;
	if (rows.count)
		return err_at(err, pointer, "Version %s is disabled on this installation: choose another", exact.text);
	return 0;
}
