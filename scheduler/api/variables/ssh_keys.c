/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/workspaces.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/variables/ssh_keys.h"
#include "scheduler/store/variables/ssh_keys.sql.h"

enum { MAX_NAME = 255, MAX_VALUE = 64 << 10 };

/* The private key is never shown. */
static json_t *key_resource(const void *of_row)
{
	const struct ssh_key_row *key = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/ssh-keys/%s", key->id);
	json_t *resource =
		resource_new("ssh-keys", key->id, json_pack("{so}", "name", json_string_or_null(key->name)), NULL);

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static int key_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (ssh_key_read(req->store, param(req, "key"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(ssh_key, ret_rows, 0)->organization_id}, "SSH key", err);
}

static int key_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (ssh_key_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_resource(res, status, key_resource(row_of(ssh_key, &rows, 0)));
}

static const struct resource_kind kind_keys = {.type = "ssh-keys", .show = key_resource};

static int page_of_keys(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return ssh_keys_list(
		req->store, scope->organization.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int ssh_keys_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_keys, scope_organization, page_of_keys}, err);
}

int ssh_keys_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (key_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, key_resource(row_of(ssh_key, &rows, 0)));
}

/* Reads a body. Both texts are borrowed, and NULL if they were not sent. */
static int input_read(const struct request *req, bool creating, struct ssh_key *ret_key, struct err *err)
{
	const char *name = NULL, *value = NULL;

	if (body_check(req, "ssh-keys", err) < 0 || body_text(req, "name", &name, err) < 0 ||
		body_long_text(req, "value", &value, err) < 0)
		return -1;
	if (creating ? !*text_or_empty(name) : body_has(req, "name") && !*text_or_empty(name))
		return err_at(err, "/data/attributes/name", "Name can't be blank");
	if (strlen(text_or_empty(name)) > MAX_NAME)
		return err_at(err, "/data/attributes/name", "Name is too long (maximum is %d characters)", MAX_NAME);
	if (creating ? !*text_or_empty(value) : body_has(req, "value") && !*text_or_empty(value))
		return err_at(err, "/data/attributes/value", "Value can't be blank");
	if (strlen(text_or_empty(value)) > MAX_VALUE)
		return err_at(err, "/data/attributes/value", "Value is too long (maximum is %d characters)", MAX_VALUE);
	*ret_key = (struct ssh_key){name, value};
	return 0;
}

int ssh_keys_create(struct request *req, struct response *res, struct err *err)
{
	struct ssh_key key;
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, true, &key, err) < 0 ||
		ssh_key_create(req->store, scope.organization.text, &key, &id, err) < 0)
		return -1;
	return key_show(req, res, 201, id.text, err);
}

int ssh_keys_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct ssh_key key;

	if (key_in_path(req, &rows, err) < 0 || input_read(req, false, &key, err) < 0 ||
		ssh_key_update(req->store, param(req, "key"), &key, err) < 0)
		return -1;
	return key_show(req, res, 200, param(req, "key"), err);
}

int ssh_keys_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (key_in_path(req, &rows, err) < 0 || ssh_key_delete(req->store, param(req, "key"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* Assigns a key to a workspace. A null id removes the key. */
int workspaces_assign_key(struct request *req, struct response *res, struct err *err)
{
	const char *id = NULL;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || body_check(req, "workspaces", err) < 0 ||
		body_text(req, "id", &id, err) < 0)
		return -1;
	if (!body_has(req, "id"))
		return err_at(err, "/data/attributes/id", "Id of an SSH key, or null, must be given");
	if (ssh_key_assign(req->store, scope.workspace.text, id, err) < 0)
		return -1;
	return workspace_show(req, res, 200, scope.workspace.text, err);
}
