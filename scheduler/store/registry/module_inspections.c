/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_inspections.h"

#include <string.h>

#include "common/terraform/module_description.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/registry/module_inspections.sql.h"
#include "scheduler/store/vcs/git_jobs.h"

enum { MAX_BATCH = 100, MAX_ERROR = 600 };

int module_inspection_begin(struct store *store, const char *version_id, struct err *err)
{
	if (db_query(store->db, NULL, err, module_inspection_reset, .version_id = version_id) < 0)
		return -1;
	return git_job_module(store, version_id, err);
}

int module_inspection_content(struct store *store, const char *version_id, struct buf *out, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, module_inspection_content, .version_id = version_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the module version has no content");
	return blob_get(store, row_of(module_inspection_content, &rows, 0)->blob_id, out, err);
}

static int end(struct store *store, const char *version_id, const char *sentence, struct err *err)
{
	char bounded[MAX_ERROR];

	text_copy(bounded, sizeof(bounded), text_or_empty(sentence));
	return db_query(store->db, NULL, err, module_inspection_end, .version_id = version_id,
		.sentence = text_or_null(bounded));
}

int module_inspection_store(struct store *store, const char *version_id, const json_t *description, struct err *err)
{
	_cleanup_(freep) char *text = json_text(description);
	struct id blob;

	if (!json_is_object(json_object_get(description, "root")) || strlen(text) > MODULE_DESCRIPTION_MAX)
		return err_set(
			err, ERR_INVALID, "'module' must be a description of at most %d bytes", MODULE_DESCRIPTION_MAX);
	if (blob_put(store, text, strlen(text), &blob, err) < 0 ||
		db_query(store->db, NULL, err, module_inspection_store, .version_id = version_id,
			.blob_id = blob.text) < 0)
		return -1;
	return end(store, version_id, json_string_at(description, "error"), err);
}

int module_inspection_fail(struct store *store, const char *version_id, const char *sentence, struct err *err)
{
	return end(store, version_id, sentence, err);
}

int module_inspections_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, module_inspections_missing, .max = MAX_BATCH) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (git_job_module(store, row_of(module_inspections_missing, &rows, i)->id, err) < 0)
			return -1;
	return 0;
}

int module_inspection_read(struct store *store, const char *version_id, json_t **ret_description, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf text = BUF_INIT(2 * MODULE_DESCRIPTION_MAX);

	if (db_query(store->db, &rows, err, module_inspection_read, .version_id = version_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the module version was not inspected yet");
	if (blob_get(store, row_of(module_inspection_read, &rows, 0)->blob_id, &text, err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_description, err);
}
