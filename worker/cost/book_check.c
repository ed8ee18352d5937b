/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/book.h"

#include <ctype.h>
#include <string.h>

#include "common/err.h"
#include "worker/cost/decimal.h"
#include "worker/cost/unit.h"

/* Each check gets the value and its place. On failure, each level prepends its key to the message. */
struct place {
	const struct book *book;
	const json_t *resource;  /* within a resource; or NULL */
	const json_t *component; /* within a component or a table; or NULL */
};

typedef int (*check_fn)(const struct place *place, const json_t *value, struct err *err);

struct key {
	const char *name;
	check_fn check;
	bool required;
};

static int wrong(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "%s", what);
}

/* ---- scalars ---- */

static int check_text(const struct place *place, const json_t *value, struct err *err)
{
	(void)place;
	return json_is_string(value) && *json_string_value(value) ? 0 : wrong(err, "must be a text");
}

static int check_version(const struct place *place, const json_t *value, struct err *err)
{
	(void)place;
	return text_equal(json_string_value(value), "1") ? 0 : wrong(err, "must be 1: no other format is known here");
}

static int check_currency(const struct place *place, const json_t *value, struct err *err)
{
	const char *text = text_or_empty(json_string_value(value));

	(void)place;
	if (strlen(text) == 3 && isupper((unsigned char)text[0]) && isupper((unsigned char)text[1]) &&
		isupper((unsigned char)text[2]))
		return 0;
	return wrong(err, "must be a currency's three letters: USD");
}

/* "2024-06" or "2024-06-30". */
static int check_date(const struct place *place, const json_t *value, struct err *err)
{
	static const char form[] = "0000-00-00";
	const char *text = text_or_empty(json_string_value(value));
	size_t len = strlen(text);
	bool fits = len == 7 || len == 10;

	(void)place;
	for (size_t i = 0; fits && i < len; i++)
		fits = form[i] == '-' ? text[i] == '-' : isdigit((unsigned char)text[i]) != 0;
	return fits ? 0 : wrong(err, "must be a date: 2024-06 or 2024-06-30");
}

static int check_amount(const struct place *place, const json_t *value, struct err *err)
{
	struct decimal amount;

	(void)place;
	if (decimal_parse(json_string_value(value), &amount) == 0 && amount.units >= 0)
		return 0;
	return wrong(err, "must be a number that is not negative");
}

static int check_unit(const struct place *place, const json_t *value, struct err *err)
{
	(void)place;
	return unit_find(json_string_value(value)) ? 0 : wrong(err, "must be one of " UNIT_NAMES);
}

/* ---- lists and objects of scalars ---- */

static int check_texts(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(value) || !json_array_size(value))
		return wrong(err, "must be a list of texts");
	json_array_foreach(value, i, one)
	{
		if (check_text(place, one, err) < 0)
			return err_context(err, "%zu", i);
	}
	return 0;
}

static int check_each(const struct place *place, const json_t *object, check_fn check, struct err *err)
{
	const char *name;
	json_t *one;

	if (!json_is_object(object))
		return wrong(err, "must be an object");
	json_object_foreach((json_t *)object, name, one)
	{
		if (check(place, one, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

static const struct key *key_find(const struct key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static int check_keys(
	const struct place *place, const json_t *object, const struct key *keys, size_t count, struct err *err)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return wrong(err, "must be an object");
	for (size_t i = 0; i < count; i++)
		if (keys[i].required && !json_object_get(object, keys[i].name))
			return err_set(err, ERR_INVALID, "%s is missing", keys[i].name);
	json_object_foreach((json_t *)object, name, value)
	{
		const struct key *key = key_find(keys, count, name);

		if (!key)
			return err_set(err, ERR_INVALID, "%s is not known here", name);
		if (key->check(place, value, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

/* ---- attributes ---- */

static int check_texts_map(const struct place *place, const json_t *value, struct err *err)
{
	return check_each(place, value, check_text, err);
}

/* {"32": "S4", "64": "S6"}: the keys are numbers. */
static int check_steps(const struct place *place, const json_t *value, struct err *err)
{
	struct decimal number;
	const char *name;
	json_t *one;

	if (check_texts_map(place, value, err) < 0)
		return -1;
	json_object_foreach((json_t *)value, name, one)
	{
		if (decimal_parse(name, &number) < 0)
			return err_set(err, ERR_INVALID, "%s is not a number", name);
	}
	return 0;
}

static int check_attribute(const struct place *place, const json_t *value, struct err *err)
{
	static const struct key keys[] = {
		{"from", check_texts, true},
		{"default", check_text, false},
		{"until-last", check_text, false},
		{"map", check_texts_map, false},
		{"up-to", check_steps, false},
	};

	return check_keys(place, value, keys, ARRAY_LEN(keys), err);
}

static int check_attributes(const struct place *place, const json_t *value, struct err *err)
{
	return check_each(place, value, check_attribute, err);
}

/* Checks that the attribute is defined where the component is used. A table is checked once for each component that
 * uses it. */
static int check_name(const struct place *place, const char *name, struct err *err)
{
	if (!place->resource || book_attribute(place->book, place->resource, name))
		return 0;
	return err_set(err, ERR_INVALID, "%s is not among the attributes", name);
}

static int check_names(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *one;
	size_t i;

	if (check_texts(place, value, err) < 0)
		return -1;
	json_array_foreach(value, i, one)
	{
		if (check_name(place, json_string_value(one), err) < 0)
			return -1;
	}
	return 0;
}

/* ---- components ---- */

/* Checks nested tables, as deep as `by` is long, with prices at the bottom. */
static int check_depth(const struct place *place, const json_t *value, size_t depth, struct err *err)
{
	const char *name;
	json_t *one;

	if (depth == 0)
		return check_amount(place, value, err);
	if (!json_is_object(value))
		return wrong(err, "must be an object: the prices are as deep as \"by\" is long");
	json_object_foreach((json_t *)value, name, one)
	{
		if (check_depth(place, one, depth - 1, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

static int check_prices(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *by = json_object_get(place->component, "by");

	if (!json_array_size(by))
		return wrong(err, "needs \"by\": the attributes that the prices depend on");
	return check_depth(place, value, json_array_size(by), err);
}

/* Checks a number, the name of an attribute, or a list of both whose product is taken. */
static int check_factor(const struct place *place, const json_t *value, struct err *err)
{
	struct decimal number;

	if (check_text(place, value, err) < 0)
		return -1;
	if (decimal_parse(json_string_value(value), &number) == 0)
		return check_amount(place, value, err);
	return check_name(place, json_string_value(value), err);
}

static int check_quantity(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(value))
		return check_factor(place, value, err);
	json_array_foreach(value, i, one)
	{
		if (check_factor(place, one, err) < 0)
			return err_context(err, "%zu", i);
	}
	return 0;
}

/* {"volume_type": ["io1", "io2"]} */
static int check_when(const struct place *place, const json_t *value, struct err *err)
{
	const char *name;
	json_t *one;

	if (check_each(place, value, check_texts, err) < 0)
		return -1;
	json_object_foreach((json_t *)value, name, one)
	{
		if (check_name(place, name, err) < 0)
			return -1;
	}
	return 0;
}

static int check_table_name(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *table = json_object_get(
		json_object_get(place->book->source, "tables"), text_or_empty(json_string_value(value)));

	if (!table)
		return wrong(err, "names no table of this book");
	return check_names(place, json_object_get(table, "by"), err);
}

static int check_component(const struct place *place, const json_t *value, struct err *err)
{
	static const struct key keys[] = {
		{"name", check_text, true},
		{"unit", check_unit, true},
		{"source", check_text, false},
		{"date", check_date, false},
		{"table", check_table_name, false},
		{"by", check_names, false},
		{"prices", check_prices, false},
		{"price", check_amount, false},
		{"quantity", check_quantity, false},
		{"beyond", check_amount, false},
		{"when", check_when, false},
		{"each", check_text, false},
	};
	struct place here = *place;
	int priced;

	here.component = value;
	if (check_keys(&here, value, keys, ARRAY_LEN(keys), err) < 0)
		return -1;
	priced = !!json_object_get(value, "table") + !!json_object_get(value, "prices") +
		!!json_object_get(value, "price");
	if (priced != 1)
		return wrong(err, "must have one of price, prices and table");
	if (!book_source(place->book, value) || !book_date(place->book, value))
		return wrong(err, "must have a source and a date, of its own or of its table or book");
	return 0;
}

static int check_components(const struct place *place, const json_t *value, struct err *err)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(value) || !json_array_size(value))
		return wrong(err, "must be a list of components; what costs nothing stands in \"free\"");
	json_array_foreach(value, i, one)
	{
		if (check_component(place, one, err) < 0)
			return err_context(err, "%zu", i);
	}
	return 0;
}

/* ---- the book ---- */

static int check_table(const struct place *place, const json_t *value, struct err *err)
{
	static const struct key keys[] = {
		{"source", check_text, false},
		{"date", check_date, false},
		{"by", check_texts, true},
		{"prices", check_prices, true},
	};
	struct place here = *place;

	here.component = value;
	return check_keys(&here, value, keys, ARRAY_LEN(keys), err);
}

static int check_tables(const struct place *place, const json_t *value, struct err *err)
{
	return check_each(place, value, check_table, err);
}

static int check_resource(const struct place *place, const json_t *value, struct err *err)
{
	static const struct key keys[] = {
		{"attributes", check_attributes, false},
		{"components", check_components, true},
	};
	struct place here = *place;

	here.resource = value;
	return check_keys(&here, value, keys, ARRAY_LEN(keys), err);
}

static int check_resources(const struct place *place, const json_t *value, struct err *err)
{
	return check_each(place, value, check_resource, err);
}

static int check_free(const struct place *place, const json_t *value, struct err *err)
{
	static const struct key keys[] = {
		{"source", check_text, true},
		{"date", check_date, true},
		{"types", check_texts, true},
	};

	return check_keys(place, value, keys, ARRAY_LEN(keys), err);
}

int book_check(const struct book *book, struct err *err)
{
	static const struct key keys[] = {
		{"price-book", check_version, true},
		{"name", check_text, true},
		{"currency", check_currency, true},
		{"source", check_text, false},
		{"date", check_date, false},
		{"attributes", check_attributes, false},
		{"free", check_free, false},
		{"tables", check_tables, false},
		{"resources", check_resources, true},
	};
	const struct place place = {.book = book};

	return check_keys(&place, book->source, keys, ARRAY_LEN(keys), err);
}
