/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer_query.h"

#include <ctype.h>
#include <string.h>

#include "common/err.h"
#include "scheduler/lifecycle/schedules/cron.h"

/* ---- the table ---- */

/* The fields of all views. A row without a name opens a view. */
static const struct explorer_field rows[] = {
#define TEXT                                       EXPLORER_TEXT
#define NUMBER                                     EXPLORER_NUMBER
#define DECIMAL                                    EXPLORER_DECIMAL
#define FLAG                                       EXPLORER_FLAG
#define TIME                                       EXPLORER_TIME
#define VERSION                                    EXPLORER_VERSION
#define EXPLORER_VIEW(name, type)                  {NULL, type, TEXT, EXPLORER_NO_COLUMN, false},
#define EXPLORER_FIELD(name, shown, kind)          {#name, shown, kind, EXPLORER_NO_COLUMN, false},
#define EXPLORER_COLUMN(name, shown, kind, column) {#name, shown, kind, EXPLORER_##column, false},
#define EXPLORER_PLACE(name, shown, kind)          {#name, shown, kind, EXPLORER_NO_COLUMN, true},
#include "scheduler/store/explorer/explorer_fields.def"
};

static const char *const view_names[] = {
#define EXPLORER_VIEW(name, type) #name,
#include "scheduler/store/explorer/explorer_fields.def"
};

static const struct {
	const char *name;
	int kinds;
	const char *code;
} operators[] = {
#define EXPLORER_OPERATOR(name, kinds, code) {name, kinds, code},
#include "scheduler/store/explorer/explorer_fields.def"
};

/* The view of that index. */
static void view_fill(size_t index, struct explorer_view *ret_view)
{
	size_t at = 0, views = 0;

	for (; rows[at].name || views++ < index; at++)
		;
	*ret_view = (struct explorer_view){
		.name = view_names[index], .type = rows[at].shown, .fields = &rows[at + 1], .id = (int)index};
	for (at++; at < ARRAY_LEN(rows) && rows[at].name; at++)
		ret_view->field_count++;
}

static const struct explorer_field *field_find(const struct explorer_view *view, const char *name)
{
	for (size_t i = 0; i < view->field_count; i++)
		if (text_equal(view->fields[i].name, name))
			return &view->fields[i];
	return NULL;
}

static const struct explorer_field *field_need(const struct explorer_query *query, const char *name, struct err *err)
{
	const struct explorer_field *field = field_find(&query->view, name);

	if (!field)
		err_set(err, ERR_MALFORMED, "%s is no field of the explorer's type %s", name, query->view.name);
	return field;
}

/* ---- the query ---- */

static void filters_init(struct explorer_filters *filters)
{
	*filters = (struct explorer_filters){DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT};
}

static void filters_release(struct explorer_filters *filters)
{
	db_array_release(&filters->fields);
	db_array_release(&filters->operators);
	db_array_release(&filters->operands);
}

int explorer_query_init(struct explorer_query *query, const char *view, struct err *err)
{
	size_t index = 0;

	while (index < ARRAY_LEN(view_names) && !text_equal(view_names[index], view))
		index++;
	if (index == ARRAY_LEN(view_names))
		return err_set(err, ERR_MALFORMED,
			"type must be one of: workspaces, tf_versions, providers, modules, resources, outputs, tags, "
			"projects");
	*query = (struct explorer_query){.sort = NULL};
	view_fill(index, &query->view);
	for (size_t i = 0; i < query->view.field_count; i++)
		query->shown[query->shown_count++] = &query->view.fields[i];
	filters_init(&query->filters);
	filters_init(&query->place_filters);
	return 0;
}

void explorer_query_release(struct explorer_query *query)
{
	filters_release(&query->filters);
	filters_release(&query->place_filters);
	for (size_t i = 0; i < ARRAY_LEN(query->equal); i++)
		freep(&query->equal[i]);
	freep(&query->pattern);
}

/* ---- filters ---- */

static const char *operator_code(const struct explorer_field *field, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if ((operators[i].kinds & field->kind) && text_equal(operators[i].name, name))
			return operators[i].code;
	return NULL;
}

static bool number_valid(const char *text)
{
	size_t digits;

	text += *text == '-';
	digits = strspn(text, "0123456789");
	if (!digits || digits > 18)
		return false;
	text += digits;
	if (*text != '.')
		return !*text;
	digits = strspn(text + 1, "0123456789");
	return digits && digits <= 18 && !text[1 + digits];
}

/* "2026-11-21", "2026-11-21T01:25:00", with a fraction, and with an offset: those that PostgreSQL reads, too. */
static bool time_text_valid(const char *text)
{
	static const char pattern[] = "dddd-dd-ddTdd:dd:dd";
	size_t i = 0;

	for (; pattern[i] && text[i]; i++)
		if (pattern[i] == 'd' ? !isdigit((unsigned char)text[i])
				      : text[i] != pattern[i] && !(pattern[i] == 'T' && text[i] == ' '))
			return false;
	if (!text[i])
		return i == 10 || i == 16 || i == 19;
	text += i;
	if (*text == '.') {
		size_t digits = strspn(text + 1, "0123456789");

		if (!digits || digits > 9)
			return false;
		text += 1 + digits;
	}
	if (!*text || text_equal(text, "Z"))
		return true;
	return (*text == '+' || *text == '-') && strlen(text) == 6 && text[3] == ':' &&
		strspn(text + 1, "0123456789:") == 5 && text[1] != ':' && text[2] != ':' && text[4] != ':' &&
		text[5] != ':' && text[1] < '2';
}

static int digits_at(const char *text, size_t at)
{
	return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

/* The parts of a time are in their ranges. */
static bool time_in_range(const char *text)
{
	int year = digits_at(text, 0) * 100 + digits_at(text, 2), month = digits_at(text, 5), day = digits_at(text, 8);

	if (year < 1 || month < 1 || month > 12 || day < 1 || day > cron_days_of_month(year, month))
		return false;
	if (strlen(text) == 10)
		return true;
	return digits_at(text, 11) < 24 && digits_at(text, 14) < 60 && (strlen(text) < 19 || digits_at(text, 17) < 60);
}

static bool version_valid(const char *text)
{
	text += *text == 'v';
	return isdigit((unsigned char)*text) &&
		!text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-")];
}

static const char *value_complaint(const struct explorer_field *field, const char *code, const char *value)
{
	if (text_starts(code, "number_") && !number_valid(value))
		return "a number";
	if (field->kind == EXPLORER_TIME && !(time_text_valid(value) && time_in_range(value)))
		return "a time such as 2026-11-21T01:25:00Z";
	if (text_starts(code, "version_") && !version_valid(value))
		return "a version such as 1.2.3";
	if (field->kind == EXPLORER_FLAG && !text_equal(value, "true") && !text_equal(value, "false"))
		return "true or false";
	return strlen(value) > EXPLORER_MAX_VALUE ? "at most 1000 bytes long" : NULL;
}

/* The text between two percent signs, with the special characters of `like` escaped. */
static char *like_pattern(const char *text)
{
	char *pattern = mem_new(2 * strlen(text) + 3, 1), *out = pattern;

	*out++ = '%';
	for (; *text; text++) {
		if (strchr("\\%_", *text))
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '%';
	return pattern;
}

/* A trigram index finds only texts of three characters or more. */
enum { MIN_PATTERN = 3 };

/* Whether an index alone answers the filter, which is then remembered. A pattern finds too much: it is a filter, too.
 */
static bool index_takes(
	struct explorer_query *query, const struct explorer_field *field, const char *code, const char *value)
{
	bool equal = text_equal(code, "is");

	if (field->column >= EXPLORER_BILLABLE)
		return false;
	if (equal && field->column != EXPLORER_ADDRESS && !query->equal[field->column]) {
		query->equal[field->column] = mem_text(value);
		return true;
	}
	if ((equal || text_equal(code, "contains")) && field->column <= EXPLORER_NAME && !query->pattern &&
		strlen(value) >= MIN_PATTERN)
		query->pattern = like_pattern(value);
	return false;
}

enum explorer_column explorer_query_index(const struct explorer_query *query)
{
	static const enum explorer_column by_rows[] = {
		EXPLORER_NAME, EXPLORER_TYPE, EXPLORER_MODULE, EXPLORER_PROVIDER};

	if (query->pattern)
		return EXPLORER_ADDRESS;
	for (size_t i = 0; i < ARRAY_LEN(by_rows); i++)
		if (query->equal[by_rows[i]])
			return by_rows[i];
	return EXPLORER_NO_COLUMN;
}

int explorer_query_filter(struct explorer_query *query, const struct explorer_filter *filter, struct err *err)
{
	const struct explorer_field *field = field_need(query, filter->field, err);
	const char *value = text_or_empty(filter->value), *code, *complaint;
	struct explorer_filters *filters;

	if (!field)
		return -1;
	code = operator_code(field, filter->op);
	if (!code)
		return err_set(err, ERR_MALFORMED, "%s is no operator of the field %s", filter->op, field->name);
	if (++query->filter_count > EXPLORER_MAX_FILTERS)
		return err_set(err, ERR_MALFORMED, "a query has at most %d filters", EXPLORER_MAX_FILTERS);
	if (text_equal(code, "is_empty") || text_equal(code, "is_not_empty"))
		value = "";
	else if ((complaint = value_complaint(field, code, value)))
		return err_set(err, ERR_MALFORMED, "the value for %s must be %s", field->name, complaint);
	if (index_takes(query, field, code, value))
		return 0;
	filters = field->of_place ? &query->place_filters : &query->filters;
	db_array_add(&filters->fields, field->name);
	db_array_add(&filters->operators, code);
	db_array_add(&filters->operands, value);
	return 0;
}

int explorer_query_sort(struct explorer_query *query, const char *sort, struct err *err)
{
	const struct explorer_field *field;

	query->down = *sort == '-';
	field = field_need(query, sort + query->down, err);
	if (!field)
		return -1;
	query->sort = field;
	return 0;
}

int explorer_query_fields(struct explorer_query *query, const char *fields, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(fields);
	char *rest = copy, *name;

	query->shown_count = 0;
	while ((name = strsep(&rest, ","))) {
		const struct explorer_field *field = field_need(query, name, err);

		if (!field)
			return -1;
		if (query->shown_count == EXPLORER_MAX_FIELDS)
			return err_set(err, ERR_MALFORMED, "a query shows at most %d fields", EXPLORER_MAX_FIELDS);
		query->shown[query->shown_count++] = field;
	}
	return 0;
}

/* ---- saved queries ---- */

static int document_wrong(const char *member, struct err *err)
{
	return err_set(
		err, ERR_MALFORMED, "%s of a query must be a list of at most %d texts", member, EXPLORER_MAX_FIELDS);
}

/* The texts of a member, which may be missing, or a single text. A new reference; NULL: it is something else. */
static json_t *document_texts(const json_t *document, const char *member)
{
	const json_t *value = json_object_get(document, member), *text;
	json_auto_t *texts = json_array();
	size_t i;

	if (json_is_string(value))
		json_array_append(texts, (json_t *)value);
	else if (json_is_array(value))
		json_array_extend(texts, (json_t *)value);
	else if (value && !json_is_null(value))
		return NULL;
	json_array_foreach(texts, i, text)
	{
		if (!json_is_string(text) || i == EXPLORER_MAX_FIELDS)
			return NULL;
	}
	return json_incref(texts);
}

/* A filter {"workspace_name": {"contains": ["dev"]}} in the form of the others. NULL: it is none. A new reference. */
static json_t *document_filter_nested(const json_t *item)
{
	const json_t *of_field = json_object_iter_value(json_object_iter((json_t *)item));
	void *op = json_object_iter((json_t *)of_field);

	if (json_object_size(item) != 1 || json_object_size(of_field) != 1)
		return NULL;
	return json_pack("{ss ss sO}", "field", json_object_iter_key(json_object_iter((json_t *)item)), "operator",
		json_object_iter_key(op), "value", json_object_iter_value(op));
}

static int document_filter(struct explorer_query *query, const json_t *of, struct err *err)
{
	json_auto_t *nested = document_filter_nested(of);
	const json_t *item = nested ? nested : of;
	json_auto_t *values = document_texts(item, "value");
	const char *field = json_string_at(item, "field"), *op = json_string_at(item, "operator");

	if (!field || !op || !values || json_array_size(values) > 1)
		return err_set(
			err, ERR_MALFORMED, "a filter of a query has a field, an operator and a list of one value");
	return explorer_query_filter(
		query, &(struct explorer_filter){field, op, json_string_value(json_array_get(values, 0))}, err);
}

static int document_fields(struct explorer_query *query, const json_t *document, struct err *err)
{
	json_auto_t *fields = document_texts(document, "fields");
	const json_t *field;
	size_t i;

	if (!fields)
		return document_wrong("fields", err);
	if (json_array_size(fields))
		query->shown_count = 0;
	json_array_foreach(fields, i, field)
	{
		if (!(query->shown[query->shown_count++] = field_need(query, json_string_value(field), err)))
			return -1;
	}
	return 0;
}

static int document_sort(struct explorer_query *query, const json_t *document, struct err *err)
{
	json_auto_t *sort = document_texts(document, "sort");

	if (!sort || json_array_size(sort) > 1)
		return err_set(err, ERR_MALFORMED, "sort of a query must be a list of one field");
	return json_array_size(sort) ? explorer_query_sort(query, json_string_value(json_array_get(sort, 0)), err) : 0;
}

int explorer_query_document(struct explorer_query *query, const json_t *document, struct err *err)
{
	const json_t *filters = json_object_get(document, "filter"), *filter;
	size_t i;

	if (!json_is_object(document))
		return err_set(err, ERR_MALFORMED, "a query must be an object");
	if (filters && !json_is_null(filters) && !json_is_array(filters))
		return err_set(err, ERR_MALFORMED, "filter of a query must be a list");
	json_array_foreach(filters, i, filter)
	{
		if (document_filter(query, filter, err) < 0)
			return -1;
	}
	return document_fields(query, document, err) < 0 ? -1 : document_sort(query, document, err);
}

/* ---- the names of parameters ---- */

/* The text in the brackets at *at, which moves behind them; NULL if there are none. The caller frees it. */
static char *bracketed(const char **at)
{
	const char *begin = *at, *end = *begin == '[' ? strchr(begin, ']') : NULL;

	if (!end)
		return NULL;
	*at = end + 1;
	return mem_printf("%.*s", (int)(end - begin - 1), begin + 1);
}

bool explorer_filter_name(const char *name, char **ret_field, char **ret_operator)
{
	const char *at = name + strlen("filter");
	_cleanup_(freep) char *index = NULL, *field = NULL, *op = NULL, *value = NULL;
	long long number;

	if (!text_starts(name, "filter["))
		return false;
	index = bracketed(&at);
	field = bracketed(&at);
	op = bracketed(&at);
	value = bracketed(&at);
	if (!index || text_number(index, 0, 1000, &number) < 0 || !field || !op || (value && !text_equal(value, "0")) ||
		*at)
		return false;
	*ret_field = field;
	*ret_operator = op;
	field = op = NULL;
	return true;
}
