/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/rescues.h"

#include "scheduler/store/content/object_url.h"
#include "scheduler/store/content/seals.h"

/* Workers give an upload up earlier (worker/rescue/rescue.c). */
#define UPLOADS_END "interval '15 minutes'"

enum { KEY_BYTES = 32, NAME_BYTES = 16, SEALED_LIMIT = 1024, SPARE_SECONDS = 3600 };

/* ---- grants ---- */

/* The folder lets operators set rules for these objects; the two digits spread the names, as for other objects. */
struct rescue_grant rescue_grant_new(void)
{
	_cleanup_(freep) char *name = crypto_random_hex(NAME_BYTES);

	return (struct rescue_grant){
		.object = mem_printf("rescue/%.2s/%s", name, name), .key = crypto_random_hex(KEY_BYTES)};
}

void rescue_grant_release(struct rescue_grant *grant)
{
	free(grant->object);
	free(grant->key);
	*grant = (struct rescue_grant){.object = NULL};
}

json_t *rescue_grant_json(struct store *store, const struct rescue_grant *grant, const char *job)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *text = NULL;

	seal_text(store, grant->object, grant->key, &sealed);
	text = crypto_base64(sealed.data, sealed.len);
	return json_pack("{ss ss ss}", "job", job, "object", grant->object, "sealed", text);
}

int rescues_insert(struct store *store, const json_t *grants, struct err *err)
{
	_cleanup_(freep) char *text = json_text(grants);

	if (!json_array_size(grants))
		return 0;
	/* Returns nothing. The jobs are read by their primary key; their ids are an array (db/db.h, "plans"). */
	return db_queue(store->db, err,
		"insert into rescues (object_key, job_id, attempt, key_sealed, delete_at) "
		"select u.object, j.id, j.attempt, decode(u.sealed, 'base64'), now() + make_interval(secs => $2) "
		"from jsonb_to_recordset($1::jsonb) as u(job text, object text, sealed text) "
		"join jobs j on j.id = u.job and j.id = any(array(select d.job from jsonb_to_recordset($1::jsonb) as "
		"d(job text))) where j.stage = 'apply'",
		P_TEXT(text), P_INT(OBJECT_URL_SECONDS + SPARE_SECONDS));
}

/* ---- objects of held workspaces ---- */

/* After 5 s, then after a tenth of the hold's age, up to a minute. */
int rescues_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with due as (select r.object_key, h.run_id, h.workspace_id, h.token_hash, h.began_at from "
		"workspace_holds h join workspaces w on w.id = h.workspace_id and w.hold_job_id = h.job_id "
		"join rescues r on r.job_id = h.job_id and r.attempt = h.attempt "
		"where h.until is not null and h.settled_at is null and r.look_at <= now() "
		"order by r.look_at limit $1 for update of r skip locked) "
		"update rescues r set look_at = now() + greatest(interval '5 seconds', least(interval '1 minute', "
		"(now() - d.began_at) / 10)) from due d where r.object_key = d.object_key "
		"returning r.object_key, r.job_id, r.attempt, r.key_sealed, r.seen, d.run_id, d.workspace_id, "
		"d.token_hash",
		P_INT(max));
}

int rescue_key(struct store *store, const struct rows *rows, int row, struct buf *ret_key, struct err *err)
{
	return seal_open(store, row_text(rows, row, "object_key"), (struct sealed_column){rows, row, "key_sealed"},
		ret_key, err);
}

int rescue_saw(struct store *store, const char *object_key, const char *seen, struct err *err)
{
	return db_query(store->db, NULL, err, "update rescues set seen = $2 where object_key = $1", P_TEXT(object_key),
		P_TEXT(seen));
}

/* ---- deletion ---- */

/* Rows of running applies are few, and those of ended ones stay for minutes only, unless their hold did not end with
 * the last state. */
static int ended_note(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update rescues r set delete_at = now() + " UPLOADS_END " where delete_at > now() + " UPLOADS_END
		" and not exists (select 1 from jobs j where j.id = r.job_id and j.attempt = r.attempt "
		"and j.state = 'claimed') and not exists (select 1 from workspace_holds h where h.job_id = r.job_id)");
}

/* Claims a batch for 5 minutes, after which those of a crashed process are due again. */
static int due_take(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"update rescues set delete_at = now() + interval '5 minutes' where object_key in "
		"(select object_key from rescues where delete_at <= now() order by delete_at limit $1 "
		"for update skip locked) returning object_key",
		P_INT(MAX_RESCUES_DELETED));
}

int rescues_delete(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array done = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int result = 0;

	if (ended_note(store, err) < 0 || due_take(store, &rows, err) < 0)
		return -1;
	*ret_count = rows.count;
	for (int i = 0; i < rows.count && result == 0; i++) {
		result = object_delete(objects, row_text(&rows, i, "object_key"), err);
		if (result == 0)
			db_array_add(&done, row_text(&rows, i, "object_key"));
	}
	if (done.count &&
		db_query(store->db, NULL, err, "delete from rescues where object_key = any($1::text[])",
			P_ARRAY(&done)) < 0)
		return -1;
	return result;
}
