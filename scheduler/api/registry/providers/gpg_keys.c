/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/gpg_keys.h"

#include <string.h>

#include "scheduler/api/registry/providers/providers.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/openpgp/openpgp.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/fields.h"
#include "scheduler/openpgp/wire.h"
#include "scheduler/store/registry/providers/gpg_keys.sql.h"

/* The public keys of an organization, by which its private providers are signed. */

enum { MAX_NAMESPACES = 20 };

/* ---- the resource ---- */

static int key_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct gpg_key_row *k = of_row;
	_cleanup_(freep) char *self =
		mem_printf(REGISTRY_KEYS_PREFIX "/gpg-keys/%s/%s", k->organization_name, k->key_id);

	(void)err;
	*ret_resource = resource_new("gpg-keys", k->id,
		json_pack("{ss ss ss ss ss so ss so so s{sb}}", "ascii-armor", k->ascii_armor, "key-id", k->key_id,
			"fingerprint", k->fingerprint, "namespace", k->organization_name, "source", "", "source-url",
			json_null(), "trust-signature", "", "created-at", time_shown(k->created_at), "updated-at",
			time_shown(k->updated_at), "permissions", "can-delete",
			!k->used && providers_managed(store, k->organization_id)),
		NULL);
	json_object_set_new(*ret_resource, "links", json_pack("{ss}", "self", self));
	return 0;
}

static const struct resource_kind kind_gpg_keys = {.type = "gpg-keys", .make = key_resource};

static int key_show(struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_gpg_keys, rows}, err);
}

/* ---- reading ---- */

/* The organizations of filter[namespace], a list of names. */
static int namespaces_read(const struct request *req, struct db_array *ids, struct err *err)
{
	_cleanup_(freep) char *names = mem_text(text_or_empty(query(req, "filter[namespace]")));
	char *rest = names, *name;
	int count = 0;

	if (!*names)
		return err_set(err, ERR_MALFORMED, "filter[namespace] must name an organization");
	while ((name = strsep(&rest, ","))) {
		struct id id;

		if (++count > MAX_NAMESPACES)
			return err_set(err, ERR_MALFORMED, "filter[namespace] has more than %d names", MAX_NAMESPACES);
		if (registry_namespace_find(req, name, "namespace", &id, err) < 0)
			return -1;
		db_array_add(ids, id.text);
	}
	return 0;
}

int gpg_keys_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (page_read(req, &page, err) < 0 || namespaces_read(req, &ids, err) < 0 ||
		gpg_keys_list(req->store, &ids, &(struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_gpg_keys, &rows}, err);
}

static int key_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	struct id organization;

	if (registry_namespace_find(req, param(req, "namespace"), "GPG key", &organization, err) < 0)
		return -1;
	return gpg_key_find(req->store, organization.text, param(req, "gpg_key"), ret_rows, err);
}

int gpg_keys_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (key_in_path(req, &rows, err) < 0)
		return -1;
	return key_show(req, res, 200, &rows, err);
}

/* ---- changes ---- */

/* The organization that the body names. The same error for one that does not exist. */
static int namespace_in_body(const struct request *req, struct id *ret_id, struct err *err)
{
	static const char pointer[] = "/data/attributes/namespace";
	const char *name = NULL;

	if (body_check(req, "gpg-keys", err) < 0 || body_text(req, "namespace", &name, err) < 0)
		return -1;
	if (!*text_or_empty(name))
		return err_at(err, pointer, "Namespace can't be blank: it is the name of an organization");
	if (registry_namespace_find(req, name, "namespace", ret_id, err) == 0)
		return 0;
	return err->kind == ERR_NOT_FOUND ? err_set(err, ERR_FORBIDDEN, "namespace not authorized") : -1;
}

int gpg_keys_create(struct request *req, struct response *res, struct err *err)
{
	static const char pointer[] = "/data/attributes/ascii-armor";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct gpg_key_draft draft = {.ascii_armor = NULL};
	struct openpgp_key key;
	struct id organization, id;
	struct err why = ERR_INIT;

	if (namespace_in_body(req, &organization, err) < 0 ||
		body_long_text(req, "ascii-armor", &draft.ascii_armor, err) < 0)
		return -1;
	if (!*text_or_empty(draft.ascii_armor))
		return err_at(err, pointer, "Ascii armor can't be blank");
	if (length_check("Ascii armor", pointer, draft.ascii_armor, OPENPGP_KEY_MAX, err) < 0)
		return -1;
	if (openpgp_key_read(req->services->openpgp, draft.ascii_armor, &key, &why) < 0)
		return why.kind == ERR_INVALID ? err_at(err, pointer, "Ascii armor can't be used: %s", why.message)
					       : err_set(err, why.kind, "%s", why.message);
	draft.organization_id = organization.text;
	draft.key_id = key.id;
	draft.fingerprint = key.fingerprint;
	audit_note_place(req->audit, &(struct place){.organization = organization.text});
	if (gpg_key_create(req->store, &draft, &id, err) < 0 || gpg_key_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return key_show(req, res, 201, &rows, err);
}

int gpg_keys_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	struct id organization;
	const char *id;

	if (key_in_path(req, &rows, err) < 0 || namespace_in_body(req, &organization, err) < 0)
		return -1;
	id = row_of(gpg_key, &rows, 0)->id;
	registry_audit(req, "gpg-keys", id);
	if ((!text_equal(row_of(gpg_key, &rows, 0)->organization_id, organization.text) &&
		    gpg_key_move(req->store, id, organization.text, err) < 0) ||
		gpg_key_read(req->store, id, &changed, err) < 0)
		return -1;
	return key_show(req, res, 200, &changed, err);
}

int gpg_keys_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (key_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(gpg_key, &rows, 0)->id;
	registry_audit(req, "gpg-keys", id);
	if (gpg_key_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
