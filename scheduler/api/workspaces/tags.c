/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/tags.h"

#include "scheduler/api/api.h"

#include "scheduler/api/resources.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/workspaces/tags.sql.h"

enum { MAX_NAME = 255, MAX_LIST = 1000 };

/* ---- input ---- */

static void add_once(json_t *list, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (text_equal(json_string_value(item), text)) return;
	json_array_append_new(list, json_string(text));
}

static int tag_parse(const json_t *item, const char *pointer, json_t *ids, json_t *names, struct err *err)
{
	const char *id = json_string_at(item, "id"), *name = json_string_at(item, "attributes.name");

	if (!text_equal(json_string_at(item, "type"), "tags") || (!*text_or_empty(id) && !name))
		return err_at(err, pointer, "Each item must have the type tags and an id or a name");
	if (*text_or_empty(id)) {
		add_once(ids, id);
		return 0;
	}
	if (tag_text_check(name, MAX_NAME, "Name", pointer, err) < 0)
		return -1;
	if (!*name)
		return err_at(err, pointer, "Name can't be blank");
	add_once(names, name);
	return 0;
}

int tags_parse(const json_t *list, const char *pointer, json_t **ret_ids, json_t **ret_names, struct err *err)
{
	const json_t *item;
	size_t i;

	*ret_ids = json_array();
	*ret_names = json_array();
	if (!json_is_array(list) || json_array_size(list) > MAX_LIST)
		return err_at(err, pointer, "Data must be an array of at most %d tags", MAX_LIST);
	json_array_foreach(list, i, item)
	{
		if (tag_parse(item, pointer, *ret_ids, *ret_names, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- tags of a workspace ---- */

static json_t *tag_resource(const void *of_row)
{
	const struct tag_row *tag = of_row;
	return resource_new("tags", tag->id,
		json_pack("{so sI}", "name", json_string_or_null(tag->name), "instance-count",
			(json_int_t)tag->instance_count),
		json_pack("{so}", "organization", to_one("organizations", tag->organization_name)));
}

static const struct resource_kind kind_tags = {.type = "tags", .show = tag_resource};

static int page_of_workspace_tags(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return tags_of_workspace(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int workspace_tags_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_tags, scope_workspace, page_of_workspace_tags}, err);
}

static int tags_change(struct request *req, struct response *res,
	int (*change)(struct store *store, const struct tag_choice *choice, struct err *err), struct err *err)
{
	json_auto_t *ids = NULL, *names = NULL;
	struct tag_choice choice;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		tags_parse(json_object_get(req->body, "data"), "/data", &ids, &names, err) < 0)
		return -1;
	choice = (struct tag_choice){scope.organization.text, scope.workspace.text, ids, names};
	if (change(req->store, &choice, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int workspace_tags_add(struct request *req, struct response *res, struct err *err)
{
	return tags_change(req, res, tags_add, err);
}

int workspace_tags_remove(struct request *req, struct response *res, struct err *err)
{
	return tags_change(req, res, tags_remove, err);
}

/* ---- tags of an organization ---- */

static int page_of_tags(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct tag_list list = {.organization_id = scope->organization.text,
		.search = query(req, "q"),
		.exclude = query(req, "filter[exclude][taggable][id]"),
		.limit = page->size,
		.offset = page->offset};

	return tags_list(req->store, &list, ret_rows, err);
}

int tags_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_tags, scope_organization, page_of_tags}, err);
}

int tags_delete_many(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *ids = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_linkage(req, "tags", &ids, err) < 0 ||
		tags_delete(req->store, scope.organization.text, ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* Binding a tag changes the workspaces, so it needs a permission in each of them. */
int tags_bind(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = NULL;
	struct place place;
	const json_t *id;
	size_t i;

	if (tag_read(req->store, param(req, "tag"), &rows, err) < 0)
		return -1;
	place = (struct place){.organization = row_of(tag_read, &rows, 0)->organization_id};
	if (may(req, place, "tag", err) < 0 || body_linkage(req, "workspaces", &ids, err) < 0)
		return -1;
	json_array_foreach(ids, i, id)
	{
		place.workspace = json_string_value(id);
		if (may(req, place, "workspace", err) < 0)
			return -1;
	}
	if (tag_bind(req->store, param(req, "tag"), ids, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
