/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/access/offboarding.h"
#include "scheduler/api/scim/scim.h"
#include "scheduler/auth/identity/offboard.h"
#include "scheduler/store/access/scim/scim_users.sql.h"
#include "scheduler/store/access/users.h"

/* Users that an identity provider provisions. */

enum { MAX_ATTRIBUTES = 64 << 10, MAX_EMAIL = 254 };

/* ---- the resource ---- */

/* Attributes that have columns of their own. */
static const char *const apart[] = {"userName", "externalId", "active"};

/* The document as operations see it. */
static json_t *document_of(const struct scim_user_row *user)
{
	json_t *document = json_shown(user->attributes);

	json_object_set_new(document, "userName", json_string(user->user_name));
	json_object_set_new(document, "active", json_boolean(user->active));
	if (user->external_id)
		json_object_set_new(document, "externalId", json_string(user->external_id));
	return document;
}

/* A user whose name the provider did not write is shown with the account's name. */
static json_t *user_shown(const struct request *req, const struct scim_user_row *user)
{
	json_auto_t *document = document_of(user);
	json_t *shown = json_pack("{s[s] ss}", "schemas", SCIM_USER, "id", user->id);
	const json_t *name = json_object_get(document, "name");

	if (json_object_get(document, SCIM_ENTERPRISE))
		json_array_append_new(json_object_get(shown, "schemas"), json_string(SCIM_ENTERPRISE));
	json_object_update(shown, document);
	if (!name)
		json_object_set_new(shown, "name", json_pack("{ss}", "formatted", user->username));
	else if (json_is_null(name))
		json_object_del(shown, "name");
	json_object_set_new(shown, "meta", scim_meta(req, "User", user->id, user->created_at, user->updated_at));
	return shown;
}

static int user_respond(const struct request *req, struct response *res, int status, const struct scim_user_row *user)
{
	const struct scim_selection selection = scim_selection_of(req);
	json_t *shown = user_shown(req, user);

	if (status == 201)
		text_copy(res->http->location, sizeof(res->http->location),
			text_or_empty(json_string_at(shown, "meta.location")));
	scim_select(&selection, shown);
	return scim_respond(res, status, shown);
}

static int user_respond_by(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (scim_user_read(req->store, id, &rows, err) < 0)
		return -1;
	scim_note(req, "scim_user", id);
	return user_respond(req, res, status, row_of(scim_user, &rows, 0));
}

/* ---- reading ---- */

int scim_users_index(struct request *req, struct response *res, struct err *err)
{
	const struct scim_selection selection = scim_selection_of(req);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scim_query *q;
	json_t *resources;
	int result;

	if (scim_open(req, err) < 0 || !(q = scim_query_read(req, "userName", err)))
		return -1;
	result = scim_users_list(req->store, &q->list, &rows, err);
	if (result == 0) {
		resources = json_array();
		for (int i = 0; i < rows.count && row_of(scim_user, &rows, i)->id; i++) {
			json_t *shown = user_shown(req, row_of(scim_user, &rows, i));

			scim_select(&selection, shown);
			json_array_append_new(resources, shown);
		}
		scim_respond_list(res, &q->page, row_of(scim_user, &rows, 0)->total, resources);
	}
	scim_query_free(q);
	return result;
}

int scim_users_read(struct request *req, struct response *res, struct err *err)
{
	return scim_open(req, err) < 0 ? -1 : user_respond_by(req, res, 200, param(req, "scim_user"), err);
}

/* ---- writing ---- */

/* The primary address, or the first one. */
static const char *email_of(const json_t *document)
{
	const json_t *emails = json_object_get(document, "emails"), *email;
	const char *found = NULL;
	size_t i;

	json_array_foreach(emails, i, email)
	{
		const char *value = text_or_null(json_string_at(email, "value"));

		if (value && (!found || json_is_true(json_object_get(email, "primary"))))
			found = value;
	}
	return found;
}

static int email_check_scim(const char *email, struct err *err)
{
	const char *at = email ? strchr(email, '@') : NULL;

	if (!email)
		return scim_wrong(err, "invalidValue", "emails must have at least one address");
	if (!at || at == email || !at[1] || strpbrk(email, " \t\r\n") || strlen(email) > MAX_EMAIL)
		return scim_wrong(err, "invalidValue", "emails must have a valid primary address");
	return 0;
}

/* Takes the attributes with columns out of the document, which then is what is stored as JSON. */
static int draft_take(json_t *document, struct scim_user_draft *draft, char **ret_attributes, struct err *err)
{
	char *attributes;

	if (scim_text(document, "userName", &draft->user_name, err) < 0 ||
		scim_text(document, "externalId", &draft->external_id, err) < 0)
		return -1;
	if (!draft->user_name)
		return scim_wrong(err, "invalidValue", "userName must not be empty");
	draft->email = email_of(document);
	draft->active = json_bool_at(document, "active", true);
	if (email_check_scim(draft->email, err) < 0)
		return -1;
	json_auto_t *others = json_copy(document);
	for (size_t i = 0; i < ARRAY_LEN(apart); i++)
		json_object_del(others, apart[i]);
	attributes = json_text(others);
	if (strlen(attributes) > MAX_ATTRIBUTES) {
		free(attributes);
		return scim_wrong(err, "invalidValue", "a user has at most %d bytes", MAX_ATTRIBUTES);
	}
	draft->attributes = *ret_attributes = attributes;
	return 0;
}

int scim_users_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *attributes = NULL;
	json_auto_t *document = NULL;
	struct scim_user_draft draft;
	char id[SCIM_ID_SIZE];

	if (scim_open(req, err) < 0 || scim_document_read(req->body, &document, err) < 0 ||
		draft_take(document, &draft, &attributes, err) < 0 || scim_user_create(req->store, &draft, id, err) < 0)
		return -1;
	return user_respond_by(req, res, 201, id, err);
}

/* Suspends the account or reinstates it, if the document says so. */
static int activity_write(struct request *req, const struct scim_user_row *old, bool active, struct err *err)
{
	if (active == old->active)
		return 0;
	return active ? user_reinstate(req->store, old->user_id, err) : user_end_access(req, old->user_id, err);
}

static int document_write(struct request *req, const struct scim_user_row *old, json_t *document, struct err *err)
{
	_cleanup_(freep) char *attributes = NULL;
	struct scim_user_draft draft;

	if (draft_take(document, &draft, &attributes, err) < 0 ||
		scim_user_update(req->store, old->id, &draft, err) < 0)
		return -1;
	return activity_write(req, old, draft.active, err);
}

/* A PUT without `active` or `externalId` keeps these. It removes all other attributes that it does not have. */
static void document_complete(json_t *document, const struct scim_user_row *old)
{
	if (!json_object_get(document, "active"))
		json_object_set_new(document, "active", json_boolean(old->active));
	if (!json_object_get(document, "externalId") && old->external_id)
		json_object_set_new(document, "externalId", json_string(old->external_id));
}

int scim_users_replace(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "scim_user");
	json_auto_t *document = NULL;

	if (scim_open(req, err) < 0 || scim_user_lock(req->store, id, &rows, err) < 0 ||
		scim_document_read(req->body, &document, err) < 0)
		return -1;
	document_complete(document, row_of(scim_user, &rows, 0));
	if (document_write(req, row_of(scim_user, &rows, 0), document, err) < 0)
		return -1;
	return user_respond_by(req, res, 200, id, err);
}

int scim_users_patch(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "scim_user");
	const json_t *operations = NULL;
	json_auto_t *document = NULL;

	if (scim_open(req, err) < 0 || scim_operations_read(req->body, &operations, err) < 0 ||
		scim_user_lock(req->store, id, &rows, err) < 0)
		return -1;
	document = document_of(row_of(scim_user, &rows, 0));
	if (scim_document_patch(document, operations, err) < 0 ||
		document_write(req, row_of(scim_user, &rows, 0), document, err) < 0)
		return -1;
	return user_respond_by(req, res, 200, id, err);
}

static int groups_leave(struct request *req, const char *id, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT, users = DB_ARRAY_INIT;

	db_array_add(&users, id);
	if (scim_user_leave(req->store, id, &groups, err) < 0)
		return -1;
	return scim_follow(req, &groups, &users, err);
}

/* The user leaves its groups, and with them teams; its account is suspended, and never the same person's again. */
int scim_users_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "scim_user"), *account;

	if (scim_open(req, err) < 0 || scim_user_lock(req->store, id, &rows, err) < 0)
		return -1;
	account = row_of(scim_user, &rows, 0)->user_id;
	if (groups_leave(req, id, err) < 0 || user_end_access(req, account, err) < 0 ||
		user_forget(req->store, account, err) < 0 || scim_user_delete(req->store, id, err) < 0)
		return -1;
	scim_note(req, "scim_user", id);
	return respond_empty(res, 204);
}
