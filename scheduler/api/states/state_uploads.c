/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/states/states.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/states/state_rollback.h"
#include "scheduler/store/states/state_writes.h"
#include "scheduler/store/states/states.h"

/* State versions that clients create: with the content in the body, or uploaded later through a signed link. The
 * store checks the workspace's lock in the transaction that writes (store/states/state_writes.h), because a link
 * outlives the lock. */

enum { PATH_PLAIN, PATH_FORCE, PATH_JSON };
static const char *const upload_paths[] = {"upload", "force-upload", "json-upload"};

static int input_read(const struct request *req, struct state_label *label, bool *force, struct err *err)
{
	label->serial = -1;
	if (body_check(req, "state-versions", err) < 0 || body_int(req, "serial", &label->serial, err) < 0 ||
		body_text(req, "lineage", &label->lineage, err) < 0 || body_text(req, "md5", &label->md5, err) < 0 ||
		body_bool(req, "force", force, err) < 0)
		return -1;
	if (label->serial < 0)
		return err_at(err, "/data/attributes/serial", "Serial must be a whole number from 0");
	if (!label->md5 || strlen(label->md5) != 32)
		return err_at(err, "/data/attributes/md5", "Md5 must be 32 hexadecimal digits");
	return 0;
}

static json_t *upload_url(const struct store *store, const char *state_id, int path)
{
	_cleanup_(freep) char *rest = mem_printf("/state-versions/%s/%s", state_id, upload_paths[path]);
	_cleanup_(freep) char *url = signed_url(store, rest);

	return json_string(url);
}

static int state_show(struct request *req, struct response *res, const char *id, int path, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_row *state;
	json_t *resource, *attributes;

	if (state_read(req->store, id, &rows, err) < 0)
		return -1;
	state = row_of(state, &rows, 0);
	resource = state_resource(req->store, state);
	attributes = json_object_get(resource, "attributes");
	if (text_equal(state->status, "pending")) {
		json_object_set_new(attributes, "hosted-state-upload-url", upload_url(req->store, id, path));
		json_object_set_new(attributes, "hosted-json-state-upload-url", upload_url(req->store, id, PATH_JSON));
	}
	return respond_resource(res, 201, resource);
}

/* The body may name the run that wrote the state. It must be a run of the same workspace. */
static int input_run_check(const struct request *req, const char *workspace_id, const char *run_id, struct err *err)
{
	bool belongs;

	if (!run_id)
		return 0;
	if (run_belongs(req->store, run_id, workspace_id, &belongs, err) < 0)
		return -1;
	return belongs ? 0 : err_at(err, "/data/relationships/run", "Run is not one of this workspace");
}

/* Reads base64 content in the body. *ret_there is false if it was not sent. It may be NULL. */
static int content_read(
	const struct request *req, const char *name, struct buf *ret_bytes, bool *ret_there, struct err *err)
{
	const char *encoded = NULL;
	char pointer[64];

	if (body_long_text(req, name, &encoded, err) < 0)
		return -1;
	if (ret_there)
		*ret_there = encoded;
	if (!encoded || crypto_base64_decode(encoded, ret_bytes) == 0)
		return 0;
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	return err_at(err, pointer, "%s must be base64", text_equal(name, "state") ? "State" : "Json state");
}

/* Creates the state version with the content in the body, or announces it for a later upload. */
static int create(struct request *req, struct state_write *write, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_STATE), json = BUF_INIT(BODY_STATE);
	bool there = false;

	if (content_read(req, "state", &bytes, &there, err) < 0 ||
		content_read(req, "json-state", &json, NULL, err) < 0)
		return -1;
	if (!there)
		return state_announce(req->store, write, ret_id, err);
	write->bytes = buf_str(&bytes);
	write->len = bytes.len;
	if (state_accept(req->store, write, err) < 0)
		return -1;
	*ret_id = write->id;
	/* terraform 1.5 sends an empty text if it has no JSON form. */
	return json.len ? state_json_put(req->store, ret_id->text, buf_str(&json), json.len, err) : 0;
}

int states_create(struct request *req, struct response *res, struct err *err)
{
	struct state_label label = {.lineage = NULL};
	struct state_write write = {.label = &label, .run_id = body_relation(req, "run")};
	struct scope scope;
	struct id id;

	if (scope_workspace(req, &scope, err) < 0 || input_read(req, &label, &write.force, err) < 0 ||
		input_run_check(req, scope.workspace.text, write.run_id, err) < 0)
		return -1;
	write.workspace_id = scope.workspace.text;
	write.created_by = req->actor.user.text;
	if (create(req, &write, &id, err) < 0)
		return -1;
	return state_show(req, res, id.text, write.force ? PATH_FORCE : PATH_PLAIN, err);
}

int states_roll_back(struct request *req, struct response *res, struct err *err)
{
	struct state_rollback rollback = {
		.to_id = body_relation(req, "rollback-state-version"), .user_id = req->actor.user.text};
	struct scope scope;
	struct id id;

	if (scope_workspace(req, &scope, err) < 0 || body_check(req, "state-versions", err) < 0)
		return -1;
	if (!rollback.to_id)
		return err_at(err, "/data/relationships/rollback-state-version", "Rollback state version must exist");
	rollback.workspace_id = scope.workspace.text;
	if (state_rollback(req->store, &rollback, &id, err) < 0)
		return -1;
	return state_show(req, res, id.text, PATH_PLAIN, err);
}

/* ---- the content ---- */

static int upload(struct request *req, struct response *res, bool force, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_row *state;
	struct state_label label;
	struct state_write write = {.force = force, .label = &label};

	if (state_read(req->store, param(req, "state"), &rows, err) < 0)
		return -1;
	state = row_of(state, &rows, 0);
	if (!text_equal(state->status, "pending"))
		return err_set(err, ERR_CONFLICT, "the state version is %s: its content can't be uploaded any more",
			state->status);
	label.serial = state->serial;
	label.lineage = *state->lineage ? state->lineage : NULL;
	label.md5 = state->md5;
	write.workspace_id = state->workspace_id;
	audit_note_place(req->audit, &(struct place){.workspace = write.workspace_id});
	write.run_id = state->run_id;
	write.created_by = state->created_by;
	write.pending_id = state->id;
	write.bytes = req->http->body.data;
	write.len = req->http->body.len;
	if (state_accept(req->store, &write, err) < 0)
		return -1;
	return respond_empty(res, 200);
}

int states_upload(struct request *req, struct response *res, struct err *err)
{
	return upload(req, res, false, err);
}

int states_force_upload(struct request *req, struct response *res, struct err *err)
{
	return upload(req, res, true, err);
}

/* Stores terraform's JSON form of the state. Attributes of the state version come from the state itself. */
int states_json_upload(struct request *req, struct response *res, struct err *err)
{
	const struct buf *body = &req->http->body;

	if (state_json_put(req->store, param(req, "state"), buf_str(body), body->len, err) < 0)
		return -1;
	return respond_empty(res, 200);
}
