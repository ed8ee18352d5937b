/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPLORER_EXPLORER_QUERY_H
#define SCHEDULER_STORE_EXPLORER_EXPLORER_QUERY_H

/* Queries of the explorer, compiled to the parameters of the statements in explorer.sql. explorer_fields.def has views,
 * fields and operators. Pure. */

#include "scheduler/db/db.h"

enum explorer_kind {
	EXPLORER_TEXT = 1,
	EXPLORER_NUMBER = 2,
	EXPLORER_DECIMAL = 4,
	EXPLORER_FLAG = 8,
	EXPLORER_TIME = 16,
	EXPLORER_VERSION = 32,
};

/* The columns of explorer_resources with an index, in the order of explorer_resource_orders. */
enum explorer_column {
	EXPLORER_ADDRESS,
	EXPLORER_TYPE,
	EXPLORER_NAME,
	EXPLORER_MODULE,
	EXPLORER_PROVIDER,
	EXPLORER_BILLABLE,
	EXPLORER_NO_COLUMN,
};

enum explorer_view_id {
#define EXPLORER_VIEW(name, type) EXPLORER_VIEW_##name,
#include "scheduler/store/explorer/explorer_fields.def"
	EXPLORER_VIEW_COUNT,
};

struct explorer_view {
	const char *name, *type;
	const struct explorer_field *fields;
	size_t field_count;
	enum explorer_view_id id;
};

struct explorer_field {
	const char *name, *shown;
	enum explorer_kind kind;
	enum explorer_column column;
	bool of_place; /* of resources: the same for all resources of a workspace */
};

enum { EXPLORER_MAX_FILTERS = 32, EXPLORER_MAX_FIELDS = 64, EXPLORER_MAX_VALUE = 1000 };

struct explorer_filters {
	struct db_array fields, operators, operands;
};

struct explorer_query {
	struct explorer_view view;
	const struct explorer_field *shown[EXPLORER_MAX_FIELDS];
	size_t shown_count;
	const struct explorer_field *sort; /* NULL: in the order of names */
	bool down;
	struct explorer_filters filters, place_filters; /* the latter: on fields of workspaces of resources */
	size_t filter_count;
	/* Of resources: filters that indexes find, owned. Texts that columns must equal, which `filters` does not have;
	 * and a pattern of `like` for the address. NULL: none. */
	char *equal[EXPLORER_BILLABLE], *pattern;
};

struct explorer_filter {
	const char *field, *op, *value; /* the value may be NULL */
};

/* A query of all rows of that view with all fields. ERR_MALFORMED if there is no such view. */
int explorer_query_init(struct explorer_query *query, const char *view, struct err *err);
void explorer_query_release(struct explorer_query *query);
/* Adds a filter; all must hold. ERR_MALFORMED with the reason. */
int explorer_query_filter(struct explorer_query *query, const struct explorer_filter *filter, struct err *err);
/* Sorts by a field: "name", "-name". */
int explorer_query_sort(struct explorer_query *query, const char *sort, struct err *err);
/* Of resources: the filter whose index finds the fewest rows; EXPLORER_NO_COLUMN: no filter has an index. */
enum explorer_column explorer_query_index(const struct explorer_query *query);
/* Shows these fields only: "name,version". */
int explorer_query_fields(struct explorer_query *query, const char *fields, struct err *err);

/*
 * Adds all of these, in the form in which queries are saved: {"filter": [{"field", "operator", "value": ["..."]}],
 * "fields": ["..."], "sort": ["..."]}, of which all are optional. A filter may also have the form
 * {"<field>": {"<operator>": ["..."]}}.
 */
int explorer_query_document(struct explorer_query *query, const json_t *document, struct err *err);

/* Whether `name` is "filter[<number>][<field>][<operator>][0]", whose last
 * brackets may be missing. The caller frees the texts. */
bool explorer_filter_name(const char *name, char **ret_field, char **ret_operator);

#endif
