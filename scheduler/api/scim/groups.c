/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>
#include <strings.h>

#include "scheduler/api/scim/scim.h"
#include "scheduler/scim/filter.h"
#include "scheduler/store/access/scim/scim_groups.h"
#include "scheduler/store/access/scim/scim_groups.sql.h"

/* Groups that an identity provider provisions. Teams follow them at once. */

/* ---- the resource ---- */

static json_t *group_shown(const struct request *req, const struct scim_group_row *group)
{
	json_t *shown =
		json_pack("{s[s] ss ss}", "schemas", SCIM_GROUP, "id", group->id, "displayName", group->display_name);
	json_t *members = group->members ? json_shown(group->members) : NULL, *member;
	size_t i;

	if (group->external_id)
		json_object_set_new(shown, "externalId", json_string(group->external_id));
	json_array_foreach(members, i, member)
	{
		_cleanup_(freep) char *address = scim_address(req, "Users", json_string_at(member, "value"));

		json_object_set_new(member, "$ref", json_string(address));
	}
	if (members)
		json_object_set_new(shown, "members", members);
	json_object_set_new(shown, "meta", scim_meta(req, "Group", group->id, group->created_at, group->updated_at));
	return shown;
}

static int group_respond(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	const struct scim_selection selection = scim_selection_of(req);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *shown;

	if (scim_group_read(req->store, id, scim_selects(&selection, "members"), &rows, err) < 0)
		return -1;
	shown = group_shown(req, row_of(scim_group, &rows, 0));
	if (status == 201)
		text_copy(res->http->location, sizeof(res->http->location),
			text_or_empty(json_string_at(shown, "meta.location")));
	scim_select(&selection, shown);
	scim_note(req, "scim_group", id);
	return scim_respond(res, status, shown);
}

/* ---- reading ---- */

int scim_groups_index(struct request *req, struct response *res, struct err *err)
{
	const struct scim_selection selection = scim_selection_of(req);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scim_query *q;
	json_t *resources;
	int result;

	if (scim_open(req, err) < 0 || !(q = scim_query_read(req, "displayName", err)))
		return -1;
	q->list.members = scim_selects(&selection, "members");
	result = scim_groups_list(req->store, &q->list, &rows, err);
	if (result == 0) {
		resources = json_array();
		for (int i = 0; i < rows.count && row_of(scim_group, &rows, i)->id; i++) {
			json_t *shown = group_shown(req, row_of(scim_group, &rows, i));

			scim_select(&selection, shown);
			json_array_append_new(resources, shown);
		}
		scim_respond_list(res, &q->page, row_of(scim_group, &rows, 0)->total, resources);
	}
	scim_query_free(q);
	return result;
}

int scim_groups_read(struct request *req, struct response *res, struct err *err)
{
	return scim_open(req, err) < 0 ? -1 : group_respond(req, res, 200, param(req, "scim_group"), err);
}

/* ---- changes ---- */

/* The changes of a group that a request makes. Texts are borrowed. */
struct group_change {
	const char *display_name, *external_id;
	struct scim_members members;
};

static void group_change_release(struct group_change *change)
{
	scim_members_release(&change->members);
}

/* The id of a member: an object with `value`, or the id itself. */
static int member_read(const json_t *member, const char **ret_id, const char **ret_display, struct err *err)
{
	const char *id =
		json_is_object(member) ? json_string_value(scim_member(member, "value")) : json_string_value(member);

	if (!*text_or_empty(id) || strlen(id) > SCIM_NAME_SIZE)
		return scim_wrong(err, "invalidValue", "a member must have the id of a user as its value");
	*ret_id = id;
	*ret_display = NULL;
	return json_is_object(member) ? scim_text(member, "display", ret_display, err) : 0;
}

static int members_each(struct scim_members *members, const json_t *value, bool adds, struct err *err)
{
	json_auto_t *single = json_is_array(value) ? NULL : json_pack("[O]", value);
	const json_t *given = single ? single : value, *member;
	size_t i;

	json_array_foreach(given, i, member)
	{
		const char *id = NULL, *display = NULL;

		if (member_read(member, &id, &display, err) < 0)
			return -1;
		if (adds)
			scim_members_add(members, id, display);
		else
			scim_members_remove(members, id);
	}
	return 0;
}

/* Names are kept if a request leaves them out. */
static int names_read(const json_t *body, struct group_change *change, struct err *err)
{
	const char *name = NULL, *external = NULL;

	if (scim_text(body, "displayName", &name, err) < 0 || scim_text(body, "externalId", &external, err) < 0)
		return -1;
	if (name)
		change->display_name = name;
	if (external)
		change->external_id = external;
	return 0;
}

/* The whole document of a POST or a PUT, or the value of an operation without path. */
static int document_apply(const json_t *body, bool adds, struct group_change *change, struct err *err)
{
	const json_t *members = scim_member(body, "members");

	if (names_read(body, change, err) < 0)
		return -1;
	if (!members || json_is_null(members))
		return 0;
	if (!adds)
		scim_members_clear(&change->members);
	return members_each(&change->members, members, true, err);
}

/* The ids that the filter of `members[value eq "x"]` names. */
static int filter_ids_remove(const struct scim_filter *filter, size_t at, struct scim_members *members, struct err *err)
{
	const struct scim_node *node = &filter->nodes[at];

	if (node->kind == SCIM_OR)
		return filter_ids_remove(filter, node->left, members, err) < 0
			? -1
			: filter_ids_remove(filter, node->right, members, err);
	if (node->kind != SCIM_CONDITION || node->comparison != SCIM_EQ ||
		strcasecmp(node->attribute.name, "value") != 0 || !json_is_string(node->value))
		return scim_wrong(err, "invalidFilter", "members are selected by value eq \"id\"");
	scim_members_remove(members, json_string_value(node->value));
	return 0;
}

static int members_apply(const struct scim_path *path, enum scim_verb verb, const json_t *value,
	struct group_change *change, struct err *err)
{
	struct scim_members *members = &change->members;

	if (path->has_filter && verb == SCIM_REMOVE && !*path->attribute.sub)
		return filter_ids_remove(&path->filter, path->filter.root, members, err);
	if (path->has_filter || *path->attribute.sub)
		return scim_wrong(err, "invalidPath", "members can be added, replaced and removed as wholes");
	if (verb == SCIM_REPLACE || (verb == SCIM_REMOVE && (!value || json_is_null(value))))
		scim_members_clear(members);
	if (!value || json_is_null(value))
		return 0;
	return members_each(members, value, verb != SCIM_REMOVE, err);
}

static int path_apply(const struct scim_path *path, enum scim_verb verb, const json_t *value,
	struct group_change *change, struct err *err)
{
	const char *name = path->attribute.name;
	json_auto_t *named = value ? json_pack("{sO}", name, value) : NULL;

	if (strcasecmp(name, "members") == 0)
		return members_apply(path, verb, value, change, err);
	if (strcasecmp(name, "id") == 0 || strcasecmp(name, "meta") == 0)
		return scim_wrong(err, "mutability", "%s can't be changed", name);
	if ((strcasecmp(name, "displayName") != 0 && strcasecmp(name, "externalId") != 0) || path->has_filter)
		return scim_wrong(err, "invalidPath", "groups have no attribute '%s'", name);
	if (verb != SCIM_REMOVE) {
		const char *text = NULL;

		if (scim_text(named, name, &text, err) < 0)
			return -1;
		if (strcasecmp(name, "displayName") == 0)
			change->display_name = text ? text : change->display_name;
		else
			change->external_id = text;
		return 0;
	}
	if (strcasecmp(name, "externalId") == 0)
		change->external_id = NULL;
	return 0;
}

static int operation_apply(const json_t *operation, struct group_change *change, struct err *err)
{
	const json_t *path = scim_member(operation, "path"), *value = scim_member(operation, "value");
	const char *text = text_or_empty(json_string_value(path));
	enum scim_verb verb;
	struct scim_path *parsed;
	int result;

	if (scim_verb_read(operation, &verb, err) < 0)
		return -1;
	if (verb != SCIM_REMOVE && !value)
		return scim_wrong(err, "invalidValue", "the operation has no value");
	if (!*text && verb == SCIM_REMOVE)
		return scim_wrong(err, "noTarget", "a removal needs a path");
	if (!*text && !json_is_object(value))
		return scim_wrong(err, "invalidValue", "the value of an operation without path must be an object");
	if (!*text)
		return document_apply(value, verb == SCIM_ADD, change, err);
	parsed = mem_new(1, sizeof(*parsed));
	result = scim_path_parse(text, parsed, err);
	if (result == 0)
		result = path_apply(parsed, verb, value, change, err);
	scim_filter_release(&parsed->filter);
	free(parsed);
	return result;
}

/* ---- writing ---- */

/* Teams follow those who joined or left; after a replacement that can be anybody. */
static int members_follow(struct request *req, const char *id, const struct scim_members *members, struct err *err)
{
	_cleanup_(db_array_release) struct db_array groups = DB_ARRAY_INIT, users = DB_ARRAY_INIT;
	const char *user;
	json_t *ignored;

	db_array_add(&groups, id);
	json_object_foreach(members->added, user, ignored) db_array_add(&users, user);
	json_object_foreach(members->removed, user, ignored) db_array_add(&users, user);
	return scim_follow(req, &groups, members->cleared ? NULL : &users, err);
}

static int change_write(struct request *req, const char *id, const struct group_change *change, struct err *err)
{
	if (scim_group_update(req->store, id, change->display_name, change->external_id, err) < 0)
		return -1;
	if (!scim_members_any(&change->members))
		return 0;
	if (scim_members_write(req->store, id, &change->members, err) < 0)
		return -1;
	return members_follow(req, id, &change->members, err);
}

int scim_groups_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(group_change_release) struct group_change change = {.display_name = NULL};
	char id[SCIM_ID_SIZE];

	scim_members_init(&change.members);
	if (scim_open(req, err) < 0 || document_apply(req->body, true, &change, err) < 0)
		return -1;
	if (!change.display_name)
		return scim_wrong(err, "invalidValue", "displayName must not be empty");
	if (scim_group_create(req->store, change.display_name, change.external_id, id, err) < 0 ||
		scim_members_write(req->store, id, &change.members, err) < 0)
		return -1;
	return group_respond(req, res, 201, id, err);
}

int scim_groups_replace(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(group_change_release) struct group_change change = {.display_name = NULL};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "scim_group");

	scim_members_init(&change.members);
	if (scim_open(req, err) < 0 || scim_group_lock(req->store, id, &rows, err) < 0)
		return -1;
	change.display_name = row_of(scim_group_lock, &rows, 0)->display_name;
	change.external_id = row_of(scim_group_lock, &rows, 0)->external_id;
	if (document_apply(req->body, false, &change, err) < 0 || change_write(req, id, &change, err) < 0)
		return -1;
	return group_respond(req, res, 200, id, err);
}

int scim_groups_patch(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(group_change_release) struct group_change change = {.display_name = NULL};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const json_t *operations = NULL, *operation;
	const char *id = param(req, "scim_group");
	size_t i;

	scim_members_init(&change.members);
	if (scim_open(req, err) < 0 || scim_operations_read(req->body, &operations, err) < 0 ||
		scim_group_lock(req->store, id, &rows, err) < 0)
		return -1;
	change.display_name = row_of(scim_group_lock, &rows, 0)->display_name;
	change.external_id = row_of(scim_group_lock, &rows, 0)->external_id;
	json_array_foreach(operations, i, operation) if (operation_apply(operation, &change, err) < 0) return -1;
	if (change_write(req, id, &change, err) < 0)
		return -1;
	return group_respond(req, res, 200, id, err);
}

/* A group that there is not counts as deleted. */
int scim_groups_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "scim_group");

	if (scim_open(req, err) < 0)
		return -1;
	scim_note(req, "scim_group", id);
	if (scim_group_lock(req->store, id, &rows, err) < 0) {
		if (err->kind != ERR_NOT_FOUND)
			return -1;
		*err = (struct err)ERR_INIT;
		return respond_empty(res, 204);
	}
	if (scim_release(req, id, err) < 0 || scim_group_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
