/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/plans/plan_changes.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/runs/plans/plan_changes.sql.h"

/* The blob: a header of fixed length, the ends of the changes, the summary, the changes. The header names the format
 * and the JSON. A higher number makes other programs' blobs unreadable, so that they are made again. */
enum { HEADER = 128, END = 8 };
#define FORMAT "runyard-changes 2"

/* ---- a draft ---- */

void plan_changes_draft_release(struct plan_changes_draft *draft)
{
	buf_release(&draft->summary);
	buf_release(&draft->changes);
	buf_release(&draft->ends);
}

int plan_changes_draft_add(struct plan_changes_draft *draft, const char *json, size_t len)
{
	uint64_t end = htole64(draft->changes.len + len);

	if (draft->ends.len + END > draft->ends.limit || buf_append(&draft->changes, json, len) < 0)
		return -1;
	return buf_append(&draft->ends, &end, sizeof(end));
}

long long plan_changes_end(const struct buf *ends, long long index)
{
	uint64_t end = 0;

	if (index >= 0)
		memcpy(&end, ends->data + index * END, sizeof(end));
	return (long long)le64toh(end);
}

/* ---- reading ---- */

int plan_changes_lookup(struct store *store, const char *plan_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, plan_changes_lookup, .plan_id = plan_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "plan not found");
}

/* Reads a range of the blob. Less than that is an error. */
static int range_read(struct store *store, const struct blob_range *range, struct buf *out, struct err *err)
{
	size_t before = out->len;

	if (blob_get_part(store, range, out, err) < 0)
		return -1;
	return (long long)(out->len - before) == range->len
		? 0
		: err_set(err, ERR_INTERNAL, "the stored changes of a plan are incomplete");
}

/* False for a header of another format, or of changes that were made from another JSON document. Changes the text. */
static bool header_parse(char *text, const char *json_blob, struct plan_changes *ret_changes)
{
	char *rest = text + strlen(FORMAT " ");
	const char *json, *count, *bytes;

	if (!text_starts(text, FORMAT " "))
		return false;
	json = strsep(&rest, " ");
	count = strsep(&rest, " ");
	bytes = strsep(&rest, "\n");
	return text_equal(json, json_blob) && bytes && text_number(count, 0, INT64_MAX, &ret_changes->count) == 0 &&
		text_number(bytes, 0, INT64_MAX, &ret_changes->summary_bytes) == 0;
}

int plan_changes_open(struct store *store, const struct plan_changes_lookup_row *plan, struct plan_changes *ret_changes,
	bool *ret_there, struct err *err)
{
	_cleanup_(buf_release) struct buf header = BUF_INIT(HEADER);
	const char *blob = plan->changes_blob;
	struct plan_changes changes = {.count = 0};

	*ret_there = false;
	if (!blob)
		return 0;
	if (range_read(store, &(struct blob_range){blob, 0, HEADER}, &header, err) < 0)
		return -1;
	if (!header_parse(header.data, plan->json_blob, &changes))
		return 0;
	text_copy(changes.blob.text, sizeof(changes.blob.text), blob);
	*ret_changes = changes;
	*ret_there = true;
	return 0;
}

static long long summary_at(const struct plan_changes *changes)
{
	return HEADER + changes->count * END;
}

static long long changes_at(const struct plan_changes *changes)
{
	return summary_at(changes) + changes->summary_bytes;
}

int plan_changes_summary(struct store *store, const struct plan_changes *changes, struct buf *out, struct err *err)
{
	return range_read(
		store, &(struct blob_range){changes->blob.text, summary_at(changes), changes->summary_bytes}, out, err);
}

int plan_changes_one(
	struct store *store, const struct plan_changes *changes, long long index, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf ends = BUF_INIT(2 * END);
	long long first = index > 0 ? index - 1 : 0, from, to;

	if (index < 0 || index >= changes->count)
		return err_set(err, ERR_NOT_FOUND, "the plan has no change %lld", index);
	if (range_read(store, &(struct blob_range){changes->blob.text, HEADER + first * END, (index - first + 1) * END},
		    &ends, err) < 0)
		return -1;
	to = plan_changes_end(&ends, index - first);
	from = index ? plan_changes_end(&ends, 0) : 0;
	return range_read(
		store, &(struct blob_range){changes->blob.text, changes_at(changes) + from, to - from}, out, err);
}

int plan_changes_all(
	struct store *store, const struct plan_changes *changes, struct plan_changes_draft *ret_draft, struct err *err)
{
	if (range_read(store, &(struct blob_range){changes->blob.text, HEADER, changes->count * END}, &ret_draft->ends,
		    err) < 0)
		return -1;
	return range_read(store,
		&(struct blob_range){changes->blob.text, changes_at(changes),
			plan_changes_end(&ret_draft->ends, changes->count - 1)},
		&ret_draft->changes, err);
}

/* ---- writing ---- */

struct keeping {
	struct store *store;
	const char *plan_id, *json_blob;
	const struct buf *content;
};

static int keep_in(void *data, struct err *err)
{
	const struct keeping *k = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob;

	if (db_query(k->store->db, &rows, err, plan_changes_lock, .plan_id = k->plan_id, .json_blob = k->json_blob) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (blob_put_pieces(k->store, buf_str(k->content), k->content->len, &blob, err) < 0)
		return -1;
	return db_queue(k->store->db, err, plan_changes_keep, .plan_id = k->plan_id, .blob = blob.text);
}

int plan_changes_keep(struct store *store, const char *plan_id, const char *json_blob,
	const struct plan_changes_draft *draft, struct err *err)
{
	_cleanup_(buf_release) struct buf content = BUF_INIT((size_t)1 << 30);
	struct keeping keeping = {store, plan_id, json_blob, &content};
	char header[HEADER + 1];

	snprintf(header, sizeof(header), FORMAT " %s %zu %zu", json_blob, draft->ends.len / END, draft->summary.len);
	memset(header + strlen(header), '\n', HEADER - strlen(header));
	if (buf_append(&content, header, HEADER) < 0 ||
		buf_append(&content, buf_str(&draft->ends), draft->ends.len) < 0 ||
		buf_append(&content, buf_str(&draft->summary), draft->summary.len) < 0 ||
		buf_append(&content, buf_str(&draft->changes), draft->changes.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the changes of the plan are too large to store");
	return db_transaction(store->db, keep_in, &keeping, err);
}
