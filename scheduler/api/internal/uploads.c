/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/internal/uploads.h"

#include <string.h>

#include "common/log.h"
#include "common/terraform/difference.h"
#include "proto/upload_batch.h"
#include "scheduler/api/api.h"
#include "scheduler/http/form.h"
#include "scheduler/runs/epoch.h"

/* The largest content that is batched if its commit, or its handler, parses it as JSON, in bytes: a larger one takes
 * more than a millisecond. */
enum { MAX_PARSED = 128 << 10 };

/* One upload: the whole body of a request, or one of its parts. */
struct upload_source {
	const char *name; /* the last segment of the path */
	const void *bytes;
	size_t len;
	const char *offset, *digest, *plan;     /* of the query; NULL: not sent */
	const char *intermediate;               /* of a state's query */
	const char *base, *serial, *state_size; /* of a state difference's query */
};

static const struct {
	const char *name;
	enum upload_kind kind;
} kinds[] = {
	{"log", UPLOAD_LOG},
	{"started", UPLOAD_STARTED},
	{"plan", UPLOAD_PLAN},
	{"plan-json", UPLOAD_PLAN_JSON},
	{"init", UPLOAD_INIT},
	{"packages", UPLOAD_PACKAGES},
	{"schemas", UPLOAD_SCHEMAS},
	{"state", UPLOAD_STATE},
	{"state-difference", UPLOAD_STATE_DIFFERENCE},
};

static int kind_of(const struct upload_source *source, enum upload_kind *ret_kind, struct err *err)
{
	size_t i = 0;

	while (i < ARRAY_LEN(kinds) && !text_equal(kinds[i].name, source->name))
		i++;
	if (i == ARRAY_LEN(kinds))
		return err_set(err, ERR_INVALID, "a part of the batch is nothing that can be sent in one");
	*ret_kind = kinds[i].kind;
	/* The schemas of a set of providers are megabytes, and equal for thousands of runs. An upload without content
	 * names stored content by its digest. */
	if (*ret_kind == UPLOAD_SCHEMAS && !source->len)
		*ret_kind = UPLOAD_SCHEMAS_NAMED;
	if (*ret_kind == UPLOAD_PLAN_JSON && !source->len)
		*ret_kind = UPLOAD_PLAN_JSON_ASKED;
	return 0;
}

/* A string value with the same text has escaped quotes, so it does not match. */
static bool holds_configuration(const struct upload_source *plan)
{
	static const char member[] = "\"generated_config\":";

	return plan->len && memmem(plan->bytes, plan->len, member, sizeof(member) - 1);
}

/* Size 0 stands for a missing or invalid number. It is refused with the content, after the job's token is checked. */
static struct state_difference difference_read(const struct upload_source *source)
{
	struct state_difference difference = {.base = text_or_empty(source->base)};

	if (text_number(source->serial, 0, INT64_MAX / 2, &difference.serial) < 0 ||
		text_number(source->state_size, 1, DIFFERENCE_STATE_MAX, &difference.size) < 0)
		difference.size = 0;
	return difference;
}

static int upload_read(struct request *req, const struct upload_source *source, struct err *err)
{
	const char *token = text_or_empty(req->bearer);
	struct upload upload = {.job = param(req, "job"),
		.bytes = source->bytes,
		.len = source->len,
		.digest = text_or_empty(source->digest)};

	if (kind_of(source, &upload.kind, err) < 0)
		return -1;
	if (upload.kind == UPLOAD_PLAN_JSON || upload.kind == UPLOAD_SCHEMAS || upload.kind == UPLOAD_SCHEMAS_NAMED)
		upload.plan = source->plan;
	crypto_sha256_hex(token, strlen(token), upload.token_hash);
	upload.generated = upload.kind == UPLOAD_PLAN_JSON && holds_configuration(source);
	if (upload.kind == UPLOAD_LOG && text_number(source->offset, 0, INT64_MAX / 2, &upload.offset) < 0)
		return err_set(err, ERR_INVALID, "'offset' must be a whole number");
	upload.base = upload.kind == UPLOAD_STATE && text_equal(source->intermediate, "true");
	if (upload.kind == UPLOAD_STATE_DIFFERENCE)
		upload.difference = difference_read(source);
	*upload_add(&uploads_of(req->item)->list) = upload;
	return 0;
}

int jobs_upload(struct request *req, struct response *res, struct err *err)
{
	const struct upload_source source = {.name = strrchr(req->route->pattern, '/') + 1,
		.bytes = buf_str(&req->http->body),
		.len = req->http->body.len,
		.offset = query(req, "offset"),
		.digest = query(req, "digest"),
		.plan = query(req, "plan"),
		.intermediate = query(req, "intermediate"),
		.base = query(req, "base"),
		.serial = query(req, "serial"),
		.state_size = query(req, "size")};

	(void)res;
	req->item->alone = text_equal(source.name, "state") && source.len > MAX_PARSED;
	return upload_read(req, &source, err);
}

/* ---- several uploads in a request ---- */

/* The request's body owns the texts of the part's query. */
static int part_read(struct request *req, const struct upload_batch_part *part, struct err *err)
{
	size_t name_len = strcspn(part->path, "?");
	_cleanup_(freep) char *name = mem_printf("%.*s", (int)name_len, part->path);
	const char *asked = part->path + name_len + (part->path[name_len] == '?');
	json_t *form = NULL;

	if (form_parse(asked, strlen(asked), &form, err) < 0)
		return -1;
	json_array_append_new(json_object_get(req->body, "queries"), form);
	return upload_read(req,
		&(struct upload_source){.name = name,
			.bytes = part->bytes,
			.len = part->len,
			.offset = json_string_at(form, "offset"),
			.digest = json_string_at(form, "digest"),
			.plan = json_string_at(form, "plan"),
			.intermediate = json_string_at(form, "intermediate"),
			.base = json_string_at(form, "base"),
			.serial = json_string_at(form, "serial"),
			.state_size = json_string_at(form, "size")},
		err);
}

/* A request that can't be parsed is refused as a whole. Any other refusal concerns a single part. */
int jobs_upload_batch(struct request *req, struct response *res, struct err *err)
{
	struct upload_batch batch;

	(void)res;
	req->item->alone = req->http->body.len > MAX_PARSED;
	if (upload_batch_read(buf_str(&req->http->body), req->http->body.len, &batch, err) < 0)
		return -1;
	req->document.value = json_pack("{so so}", "head", batch.head, "queries", json_array());
	req->body = req->document.value;
	for (size_t i = 0; i < batch.count; i++)
		if (part_read(req, &batch.parts[i], err) < 0)
			return -1;
	return 0;
}

/* ---- answers ---- */

static int state_respond(struct response *res, const struct state_write *state)
{
	if (!state->detached_why)
		return respond_empty(res, 204);
	log_warn("a state was stored as detached", "run", state->run.text, "state", state->id.text, "why",
		state->detached_why, NULL);
	return respond_json(res, 202, json_pack("{ss ss}", "detached", state->id.text, "why", state->detached_why));
}

/* Answers 204, with a state's result, or 409 with the log's length; else -1 with the error. */
static int upload_respond(struct response *res, const struct upload *upload, struct err *err)
{
	if (upload->err.kind == ERR_NONE && (upload->kind == UPLOAD_STATE || upload->kind == UPLOAD_STATE_DIFFERENCE))
		return state_respond(res, &upload->state);
	if (upload->err.kind == ERR_NONE)
		return respond_empty(res, 204);
	if (upload->err.kind == ERR_CONFLICT && upload->kind == UPLOAD_LOG)
		return respond_json(res, 409, json_pack("{sI}", "length", (json_int_t)upload->length));
	*err = upload->err;
	return -1;
}

static void part_respond(const struct upload *upload, struct upload_batch_answer *ret_answer)
{
	struct http_answer answer = {.status = 200, .body = BUF_INIT(SIZE_MAX / 2)};
	struct response res = {.http = &answer};
	struct err err = ERR_INIT;

	if (upload_respond(&res, upload, &err) < 0)
		respond_error(&res, &err);
	if (answer.status == 503)
		log_warn("a part of a batch was refused for now", "job", upload->job, "error", err.message, NULL);
	else if (answer.status >= 500)
		log_error("a part of a batch failed", "job", upload->job, "error", err.message, NULL);
	*ret_answer = (struct upload_batch_answer){answer.status, answer.body};
}

static int upload_batch_respond(struct response *res, const struct upload *uploads, size_t count, struct err *err)
{
	struct upload_batch_answer answers[UPLOAD_BATCH_PARTS_MAX];

	/* ERR_UNAVAILABLE concerns the whole request, and the answer has a Retry-After. */
	for (size_t i = 0; i < count; i++)
		if (uploads[i].err.kind == ERR_UNAVAILABLE) {
			*err = uploads[i].err;
			return -1;
		}
	for (size_t i = 0; i < count; i++)
		part_respond(&uploads[i], &answers[i]);
	upload_batch_answers_write(answers, count, &res->http->body);
	upload_batch_answers_release(answers, count);
	res->http->content_type = "application/json";
	return 0;
}

/* ---- the batch ---- */

/* After a failover, the commits that created the job may be lost (runs/epoch.h). */
static void unknown_jobs_wait(struct store *store, const struct upload_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].err.kind == ERR_NOT_FOUND)
			epoch_check_young(store, &list->items[i].err);
}

static void uploads_answer(struct store *store, struct batch_item *item)
{
	const struct upload_list *list = &uploads_of(item)->list;
	int result;

	unknown_jobs_wait(store, list);
	if (item->req->route->handler == jobs_upload_batch)
		result = upload_batch_respond(item->res, list->items, list->count, &item->err);
	else
		result = upload_respond(item->res, list->items, &item->err);
	if (result == 0)
		item->err = (struct err)ERR_INIT;
}

static bool any_left(const struct upload_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (upload_left(&list->items[i]))
			return true;
	return false;
}

/* Stores the uploads of all items in one transaction. */
static void uploads_commit(struct store *store, struct batch_item *const *items, size_t count)
{
	_cleanup_(upload_list_release) struct upload_list all = {.items = NULL};
	const struct upload *next;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < uploads_of(items[i])->list.count; k++)
			*upload_add(&all) = uploads_of(items[i])->list.items[k];
	uploads_keep(store, all.items, all.count);
	next = all.items;
	for (size_t i = 0; i < count; i++) {
		struct upload_list *list = &uploads_of(items[i])->list;

		for (size_t k = 0; k < list->count; k++)
			list->items[k] = *next++;
		items[i]->locked = any_left(list);
		if (!items[i]->locked)
			uploads_answer(store, items[i]);
	}
}

static void upload_commit(struct store *store, struct batch_item *item)
{
	uploads_keep_all(store, uploads_of(item)->list.items, uploads_of(item)->list.count);
	uploads_answer(store, item);
}

static void uploads_release(struct batch_item *item)
{
	upload_list_release(&uploads_of(item)->list);
}

const struct batch batch_uploads = {.item_size = sizeof(struct uploads_item),
	.threads = 1,
	.commit = uploads_commit,
	.commit_alone = upload_commit,
	.item_release = uploads_release};
