/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/reserved_tags.h"

#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/tags.h"
#include "scheduler/http/columns.h"
#include "scheduler/store/workspaces/reserved_tags.sql.h"

/* Reserved tag keys of an organization. */

enum { MAX_KEY = 128 };

static const struct cell_shown attributes[] = {
	CELL("key", reserved_tag, key),
	CELL("disable-overrides", reserved_tag, disable_overrides),
	CELL_ALWAYS("is-registry-tag", "false"),
	CELL_TIME("created-at", reserved_tag, created_at),
	CELL_TIME("updated-at", reserved_tag, updated_at),
};

static json_t *reserved_tag_resource(const void *of_row)
{
	const struct reserved_tag_row *row = of_row;

	return resource_new("reserved-tag-keys", row->id, cells_shown(attributes, ARRAY_LEN(attributes), of_row), NULL);
}

static const struct resource_kind kind_reserved_tags = {.type = "reserved-tag-keys", .show = reserved_tag_resource};

static int page_of_keys(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return reserved_tags_list(
		req->store, scope->organization.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int reserved_tags_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_reserved_tags, scope_organization, page_of_keys}, err);
}

/* Values that the body does not have stay as they are. */
static int input_read(const struct request *req, const char **key, bool *disable_overrides, struct err *err)
{
	static const char pointer[] = "/data/attributes/key";
	struct err why = ERR_INIT;

	if (body_check(req, "reserved-tag-keys", err) < 0 || body_text(req, "key", key, err) < 0 ||
		body_bool(req, "disable-overrides", disable_overrides, err) < 0)
		return -1;
	if (!*text_or_empty(*key))
		return err_at(err, pointer, "Key can't be blank");
	if (tag_text_check(*key, MAX_KEY, "Key", pointer, &why) < 0)
		return err_at(err, pointer, "Key is invalid: %s", why.message);
	return 0;
}

static int key_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (reserved_tag_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_reserved_tags, &rows}, err);
}

int reserved_tags_create(struct request *req, struct response *res, struct err *err)
{
	bool disable_overrides = false;
	const char *key = NULL;
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &key, &disable_overrides, err) < 0 ||
		reserved_tag_create(req->store, scope.organization.text, key, disable_overrides, &id, err) < 0)
		return -1;
	return key_show(req, res, 201, id.text, err);
}

static int key_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (reserved_tag_read(req->store, param(req, "reserved_tag"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(reserved_tag, ret_rows, 0)->organization_id},
		"reserved tag key", err);
}

int reserved_tags_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool disable_overrides;
	const char *key, *id;

	if (key_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(reserved_tag, &rows, 0)->id;
	key = row_of(reserved_tag, &rows, 0)->key;
	disable_overrides = row_of(reserved_tag, &rows, 0)->disable_overrides;
	if (input_read(req, &key, &disable_overrides, err) < 0 ||
		reserved_tag_update(req->store, id, key, disable_overrides, err) < 0)
		return -1;
	return key_show(req, res, 200, id, err);
}

int reserved_tags_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (key_in_path(req, &rows, err) < 0 ||
		reserved_tag_delete(req->store, row_of(reserved_tag, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
