/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/rescues.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/limits.h"
#include "proto/rescue.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/holds.h"
#include "scheduler/runs/reports.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/content/rescues.h"
#include "scheduler/store/runs/unrecorded.h"
#include "scheduler/store/runs/uploads.h"

/* One object is in memory at a time. */
enum {
	MAX_LOOKED = 10,
	KEY_LIMIT = 128,
	SEEN_SIZE = 2 * SEALED_HEAD_SIZE + 1,
	OBJECT_MAX = MAX_STATE_BYTES + MAX_RESCUE_HEAD + SEALED_MORE,
};

/* One object of a held workspace. */
struct looking {
	struct store *store;
	struct objects *objects;
	const char *object, *job, *run, *workspace, *token_hash;
	int attempt;
	char seen[SEEN_SIZE]; /* the object's first bytes, which differ with each upload */
};

/* ---- the object ---- */

/* An object that is not there is empty. */
static int object_read(const struct looking *l, long long len, struct buf *ret_bytes, struct err *err)
{
	struct object_part part = {.len = len};
	struct err found = ERR_INIT;

	text_copy(part.key, sizeof(part.key), l->object);
	if (object_get(l->objects, &part, ret_bytes, &found) == 0 || found.kind == ERR_NOT_FOUND)
		return 0;
	*err = found;
	return -1;
}

/* Reads the first bytes only: while an apply goes on, its object may stay the same for hours. */
static int head_read(struct looking *l, struct err *err)
{
	_cleanup_(buf_release) struct buf head = BUF_INIT(SEALED_HEAD_SIZE);

	if (object_read(l, SEALED_HEAD_SIZE, &head, err) < 0)
		return -1;
	for (size_t i = 0; i < head.len; i++)
		snprintf(l->seen + 2 * i, 3, "%02x", (unsigned char)head.data[i]);
	return 0;
}

static int content_open(const struct looking *l, const char *key, struct buf *plain, struct rescue_content *ret_content,
	struct err *err)
{
	const struct rescue_attempt of = {.key = key, .job = l->job, .run = l->run, .attempt = l->attempt};
	_cleanup_(buf_release) struct buf sealed = BUF_INIT((size_t)OBJECT_MAX + 1);

	if (object_read(l, OBJECT_MAX + 1LL, &sealed, err) < 0)
		return -1;
	if (sealed.len > OBJECT_MAX)
		return err_set(err, ERR_INVALID, "it is larger than the largest state");
	return rescue_open(&of, buf_bytes(&sealed), plain, ret_content, err);
}

/* ---- its content, in the order in which a worker sends it (proto/README.md, "The states of an ended apply") ---- */

/* The result of an attempt that holds its workspace is late. */
static int result_take(const struct looking *l, const struct rescue_content *content, struct err *err)
{
	json_t *result = json_object_get(content->head, "result");
	_cleanup_(freep) char *text = json_text(result);
	struct report report = {.job = l->job};

	if (!result)
		return 0;
	if (job_result_decode(text, strlen(text), &report.result, err) < 0)
		return err_set(err, ERR_INVALID, "its result can't be read");
	text_copy(report.token_hash, sizeof(report.token_hash), l->token_hash);
	reports_take(l->store, &report, 1);
	if (report.err.kind == ERR_NONE || report.err.kind == ERR_CONFLICT || report.err.kind == ERR_NOT_FOUND)
		return 0;
	*err = report.err;
	return -1;
}

static int unrecorded_take(const struct looking *l, const struct rescue_content *content, struct err *err)
{
	json_t *resources = json_object_get(content->head, "unrecorded");

	if (!resources)
		return 0;
	if (!json_is_array(resources))
		return err_set(err, ERR_INVALID, "its unrecorded resources are no array");
	return unrecorded_put(l->store, &(struct unrecorded_job){l->job, l->run, l->workspace}, resources, err);
}

static int state_take(const struct looking *l, const struct rescue_content *content, struct err *err)
{
	struct upload upload = {.kind = UPLOAD_STATE,
		.job = l->job,
		.bytes = content->state.data,
		.len = content->state.len,
		.digest = ""};

	if (!content->state.len)
		return 0;
	text_copy(upload.token_hash, sizeof(upload.token_hash), l->token_hash);
	uploads_keep_all(l->store, &upload, 1);
	if (upload.err.kind == ERR_NOT_FOUND)
		return 0; /* the worker itself has just delivered everything */
	*err = upload.err;
	if (upload.err.kind != ERR_NONE)
		return -1;
	log_info("a state of a lost apply came by the object store", "run", l->run, "workspace", l->workspace, "kept",
		upload.state.detached_why ? "as detached" : "as the current one", NULL);
	return 0;
}

/* Ends the hold. The attempt's token stays valid: a worker that comes back sends the same again. */
static int last_state_take(const struct looking *l, struct err *err)
{
	const struct hold_order order = {.workspace_id = l->workspace, .job_id = l->job, .event = HOLD_LAST_STATE};

	return hold_release(l->store, &order, NULL, err);
}

static int content_take(const struct looking *l, const struct rescue_content *content, bool final, struct err *err)
{
	/* A worker whose heartbeat has not arrived yet may be applying the run. */
	if (final && epoch_check_young(l->store, err) < 0)
		return -1;
	if (result_take(l, content, err) < 0 || unrecorded_take(l, content, err) < 0 || state_take(l, content, err) < 0)
		return -1;
	return final ? last_state_take(l, err) : 0;
}

/* ---- one look ---- */

static void delivered(const struct looking *l, bool final)
{
	struct err err = ERR_INIT;

	metric_add(M_RESCUES, final ? "result=\"delivered\"" : "result=\"state\"", 1);
	if (!final)
		return; /* the worker replaces it */
	log_info("the last state of a lost apply has come by the object store", "run", l->run, "workspace",
		l->workspace, NULL);
	if (object_delete(l->objects, l->object, &err) < 0)
		log_warn("a rescue object stays until its URL has expired", "object", l->object, "why", err.message,
			NULL);
}

/* An object that was refused is not read again until it is replaced. */
static int judge(const struct looking *l, int result, bool final, struct err *err)
{
	if (result == 0) {
		delivered(l, final);
		return rescue_saw(l->store, l->object, l->seen, err);
	}
	if (err->kind != ERR_INVALID && err->kind != ERR_MALFORMED && err->kind != ERR_TOO_LARGE)
		return -1;
	metric_add(M_RESCUES, "result=\"refused\"", 1);
	log_error("a rescue object is refused and changes nothing: the workspace stays held", "run", l->run,
		"workspace", l->workspace, "object", l->object, "why", err->message, NULL);
	*err = (struct err)ERR_INIT;
	return rescue_saw(l->store, l->object, l->seen, err);
}

static int look(struct looking *l, const struct rescues_due_row *row, struct err *err)
{
	_cleanup_(buf_release) struct buf plain = BUF_INIT(OBJECT_MAX), key = BUF_INIT(KEY_LIMIT);
	_cleanup_(rescue_content_release) struct rescue_content content = {.head = NULL};
	bool final;
	int result;

	if (head_read(l, err) < 0)
		return -1;
	if (!*l->seen || text_equal(l->seen, row->seen))
		return 0;
	if (rescue_key(l->store, row, &key, err) < 0)
		return -1;
	result = content_open(l, buf_str(&key), &plain, &content, err);
	final = json_bool_at(content.head, "final", false);
	if (result == 0)
		result = content_take(l, &content, final, err);
	return judge(l, result, final, err);
}

int rescues_look(struct store *store, struct objects *objects, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (rescues_due(store, MAX_LOOKED, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct rescues_due_row *row = row_of(rescues_due, &rows, i);
		struct looking l = {.store = store,
			.objects = objects,
			.object = row->object_key,
			.job = row->job_id,
			.run = row->run_id,
			.workspace = row->workspace_id,
			.token_hash = row->token_hash,
			.attempt = (int)row->attempt};
		struct err why = ERR_INIT;

		if (look(&l, row, &why) == 0)
			continue;
		log_warn(
			"a rescue object can't be read now: it is tried again", "run", l.run, "why", why.message, NULL);
		if (why.kind == ERR_UNAVAILABLE)
			*err = why;
	}
	*ret_more = rows.count == MAX_LOOKED && err->kind == ERR_NONE;
	return err->kind == ERR_NONE ? 0 : -1;
}
