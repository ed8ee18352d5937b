/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/scim/scim_users.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scheduler/scim/document_value.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/scim/scim_users.sql.h"
#include "scheduler/store/names.h"

_Static_assert((int)SCIM_ID_SIZE == (int)AUDIT_UUID_SIZE, "ids are UUIDs");

/* ---- filters as parameters ---- */

/* The names by which documents have the attribute; false if resources do not have it. The parts of extensions are one
 * level deep. */
static bool names_find(const struct scim_attribute *attribute, const char **ret_name, const char **ret_sub)
{
	static const char *const others[] = {"id", "externalId", "members", "displayName", "meta"};
	const struct scim_schema *extension = *attribute->urn ? scim_extension_find(attribute->urn) : NULL;
	const struct scim_field *field = scim_user_field(attribute->name), *sub;

	*ret_sub = "";
	if (*attribute->urn) {
		field = extension ? scim_field_find(extension->fields, extension->count, attribute->name) : NULL;
		*ret_name = SCIM_ENTERPRISE;
		*ret_sub = field ? field->name : "";
		return field && !*attribute->sub;
	}
	*ret_name = field ? field->name : NULL;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcasecmp(attribute->name, others[i]) == 0)
			*ret_name = others[i];
	if (!*ret_name || !*attribute->sub)
		return *ret_name;
	sub = field ? scim_field_find(field->subs, field->subs_count, attribute->sub) : NULL;
	*ret_sub = sub ? sub->name : attribute->sub;
	return true;
}

/* The documents have times with milliseconds. */
static char *value_text(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (len == 20 && text[4] == '-' && text[10] == 'T' && text[19] == 'Z')
		return mem_printf("%.19s.000Z", text);
	return mem_text(text);
}

/* `ne` is a negated `eq`, and `eq null` a negated `pr`. */
static int condition_add(struct scim_conditions *conditions, const struct scim_condition *condition, struct err *err)
{
	const struct scim_node *node = condition->node;
	struct scim_attribute attribute = node->attribute;
	bool negated = condition->negated != (node->comparison == SCIM_NE);
	enum scim_comparison comparison = node->comparison == SCIM_NE ? SCIM_EQ : node->comparison;
	_cleanup_(freep) char *value = NULL;
	const char *name, *sub;

	if (condition->of) {
		attribute = *condition->of;
		text_copy(attribute.sub, sizeof(attribute.sub), node->attribute.name);
	}
	if (!names_find(&attribute, &name, &sub))
		return scim_wrong(
			err, "invalidFilter", "the filter has an attribute that there is not: %s", attribute.name);
	if (comparison == SCIM_EQ && json_is_null(node->value)) {
		comparison = SCIM_PR;
		negated = !negated;
	}
	value = comparison == SCIM_PR ? mem_text("") : value_text(node->value);
	db_array_add_int(&conditions->alternatives, (long long)condition->alternative);
	db_array_add(&conditions->names, name);
	db_array_add(&conditions->subs, sub);
	db_array_add(&conditions->operators, scim_comparison_name(comparison));
	db_array_add(&conditions->values, value);
	db_array_add_bool(&conditions->exact, scim_is_exact(name) || strcasecmp(name, "members") == 0);
	db_array_add_bool(&conditions->negated, negated);
	return 0;
}

int scim_conditions_make(
	const struct scim_alternatives *alternatives, struct scim_conditions *ret_conditions, struct err *err)
{
	*ret_conditions = (struct scim_conditions){DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT,
		DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT};
	for (size_t i = 0; i < alternatives->count; i++)
		if (condition_add(ret_conditions, &alternatives->conditions[i], err) < 0)
			return -1;
	return 0;
}

void scim_conditions_release(struct scim_conditions *conditions)
{
	db_array_release(&conditions->alternatives);
	db_array_release(&conditions->names);
	db_array_release(&conditions->subs);
	db_array_release(&conditions->operators);
	db_array_release(&conditions->values);
	db_array_release(&conditions->exact);
	db_array_release(&conditions->negated);
}

/* ---- users ---- */

static int name_conflict(struct err *err)
{
	return err_set(err, ERR_CONFLICT, "another user has that userName");
}

/* The error of a statement that writes a user, or that it changed nothing. */
static int write_failed(struct store *store, bool failed, struct err *err)
{
	if (!failed)
		return name_conflict(err);
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), "scim_users_name"))
		return name_conflict(err);
	return -1;
}

int scim_user_create(
	struct store *store, const struct scim_user_draft *draft, char ret_id[SCIM_ID_SIZE], struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char name[USERNAME_SIZE];
	int result;

	username_make(draft->user_name, name);
	audit_uuid(ret_id);
	if (db_queue(store->db, err, scim_username_lock, .name = name) < 0)
		return -1;
	result = db_query(store->db, &rows, err, scim_user_create, .id = ret_id, .user_id = id_new("user").text,
		.name = name, .user_name = draft->user_name, .external_id = draft->external_id,
		.attributes = draft->attributes, .email = draft->email, .active = draft->active);
	return result == 0 && rows.count ? 0 : write_failed(store, result < 0, err);
}

int scim_user_update(struct store *store, const char *id, const struct scim_user_draft *draft, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int result = db_query(store->db, &rows, err, scim_user_update, .id = id, .user_name = draft->user_name,
		.external_id = draft->external_id, .attributes = draft->attributes, .email = draft->email);

	return result == 0 && rows.count ? 0 : write_failed(store, result < 0, err);
}

static int user_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "there is no such user");
}

int scim_user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_user_read, .id = id) < 0 ? -1 : user_found(ret_rows, err);
}

int scim_user_lock(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_user_lock, .id = id) < 0 ? -1 : user_found(ret_rows, err);
}

static int filtered_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err)
{
	struct scim_conditions c;
	int result = scim_conditions_make(list->alternatives, &c, err);

	if (result == 0)
		result = db_query(store->db, ret_rows, err, scim_users_found, .limit = list->limit,
			.offset = list->offset, .alternatives = &c.alternatives, .names = &c.names, .subs = &c.subs,
			.operators = &c.operators, .values = &c.values, .exact = &c.exact, .negated = &c.negated);
	scim_conditions_release(&c);
	return result;
}

int scim_users_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err)
{
	static const struct db_statement *const statements[] = {
		[SCIM_BY_NAME] = &scim_users_of_name_statement,
		[SCIM_BY_EXTERNAL_ID] = &scim_users_of_external_statement,
		[SCIM_BY_ID] = &scim_users_of_id_statement,
	};

	if (list->by == SCIM_BY_FILTER)
		return filtered_list(store, list, ret_rows, err);
	if (list->by == SCIM_BY_ALL)
		return db_query(store->db, ret_rows, err, scim_users_all, .limit = list->limit, .offset = list->offset);
	return db_query_one_of(store->db, ret_rows, err, statements[list->by], scim_users_of_name, .value = list->value,
		.limit = list->limit, .offset = list->offset);
}

int scim_user_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, scim_user_delete, .id = id);
}

int scim_user_leave(struct store *store, const char *id, struct db_array *ret_groups, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, scim_user_leave, .id = id) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		db_array_add(ret_groups, row_of(scim_user_leave, &rows, i)->group_id);
	return 0;
}

int scim_user_unclaimed(
	struct store *store, const char *name, const char *provider_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, scim_user_unclaimed, .name = name, .provider_id = provider_id);
}
