/* SPDX-License-Identifier: MPL-2.0 */
#include <ctype.h>
#include <string.h>

#include "common/err.h"
#include "worker/cost/book.h"
#include "worker/cost/decimal.h"

/*
 * format.json has the form of a book. A form is the name of another one or of a scalar below; ["x"] is a list of x that
 * is not empty; {"*": "x"} an object with any names, {"#": "x"} with numbers as names; other objects list their
 * members, and
 * "!" marks those that are required. On failure, each level prepends its key to the message.
 */

/* ---- forms ---- */

static const struct scalar {
	const char *name, *must;
	const char *patterns[4]; /* 0 is any digit, A any capital; none: any text */
} scalars[] = {
	{"text", "must be a text", {NULL}},
	{"version", "must be 1: no other format is known here", {"1"}},
	{"currency", "must be a currency's three letters: USD", {"AAA"}},
	{"date", "must be a date: 2024-06 or 2024-06-30", {"0000-00", "0000-00-00"}},
	{"unit", "must be one of hour, month, GB-month", {"hour", "month", "GB-month"}},
};

static int wrong(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "%s", what);
}

static int amount_check(const char *value, struct err *err)
{
	struct decimal number;

	return decimal_parse(value, &number) == 0 && number.units >= 0
		? 0
		: wrong(err, "must be a number that is not negative");
}

static bool has_pattern(const char *value, const char *pattern)
{
	for (; *value && *pattern; value++, pattern++) {
		bool fits = *pattern == *value;

		if (*pattern == '0')
			fits = isdigit((unsigned char)*value);
		if (*pattern == 'A')
			fits = isupper((unsigned char)*value);
		if (!fits)
			return false;
	}
	return !*value && !*pattern;
}

static int scalar_check(const struct scalar *scalar, const char *value, struct err *err)
{
	if (*value && !scalar->patterns[0])
		return 0;
	for (size_t i = 0; scalar->patterns[i]; i++)
		if (has_pattern(value, scalar->patterns[i]))
			return 0;
	return wrong(err, scalar->must);
}

static int form_check(const json_t *format, const json_t *form, const json_t *value, struct err *err);

static int named_check(const json_t *format, const char *name, const json_t *value, struct err *err)
{
	const char *text = text_or_empty(json_string_value(value));

	if (text_equal(name, "prices") || text_equal(name, "quantity"))
		return 0; /* book_check */
	if (text_equal(name, "amount"))
		return amount_check(text, err);
	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		if (text_equal(scalars[i].name, name))
			return scalar_check(&scalars[i], text, err);
	return form_check(format, json_object_get(format, name), value, err);
}

/* The form of the member of that name, or NULL. */
static const json_t *member_form(const json_t *form, const char *name)
{
	_cleanup_(freep) char *required = mem_printf("%s!", name);
	const char *const names[] = {name, required, "*"};
	struct decimal number;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_object_get(form, names[i]))
			return json_object_get(form, names[i]);
	return decimal_parse(name, &number) == 0 ? json_object_get(form, "#") : NULL;
}

static int object_check(const json_t *format, const json_t *form, const json_t *object, struct err *err)
{
	const char *name;
	json_t *one;

	if (!json_is_object(object))
		return wrong(err, "must be an object");
	json_object_foreach((json_t *)form, name, one)
	{
		size_t len = strcspn(name, "!");
		_cleanup_(freep) char *required = name[len] ? mem_printf("%.*s", (int)len, name) : NULL;

		if (required && !json_object_get(object, required))
			return err_set(err, ERR_INVALID, "%s is missing", required);
	}
	json_object_foreach((json_t *)object, name, one)
	{
		const json_t *inner = member_form(form, name);

		if (!inner)
			return err_set(err, ERR_INVALID, "%s is not %s", name,
				json_object_get(form, "#") ? "a number" : "known here");
		if (form_check(format, inner, one, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

static int form_check(const json_t *format, const json_t *form, const json_t *value, struct err *err)
{
	const json_t *one;
	size_t i;

	if (json_is_string(form))
		return named_check(format, json_string_value(form), value, err);
	if (json_is_object(form))
		return object_check(format, form, value, err);
	if (!json_array_size(value))
		return wrong(err, "must be a list that is not empty");
	json_array_foreach(value, i, one)
	{
		if (form_check(format, json_array_get(form, 0), one, err) < 0)
			return err_context(err, "%zu", i);
	}
	return 0;
}

/* ---- references, once the form is right ---- */

/* Checks nested prices, as deep as `by` is long. */
static int depth_check(const json_t *value, size_t depth, struct err *err)
{
	const char *name;
	json_t *one;

	if (depth == 0)
		return amount_check(text_or_empty(json_string_value(value)), err);
	if (!json_is_object(value))
		return wrong(err, "must be an object: the prices are as deep as \"by\" is long");
	json_object_foreach((json_t *)value, name, one)
	{
		if (depth_check(one, depth - 1, err) < 0)
			return err_context(err, "%s", name);
	}
	return 0;
}

static int prices_check(const json_t *holder, struct err *err)
{
	const json_t *by = json_object_get(holder, "by"), *nested = json_object_get(holder, "prices");

	if (!nested)
		return 0;
	if (!by)
		return wrong(err, "prices: needs \"by\": the attributes that the prices depend on");
	return depth_check(nested, json_array_size(by), err) < 0 ? err_context(err, "prices") : 0;
}

/* The attributes of a component are those of its resource and of its book. */
struct use {
	const struct book *book;
	const json_t *resource;
};

static int attribute_check(const struct use *use, const char *key, const char *name, struct err *err)
{
	if (book_attribute(use->book, use->resource, name))
		return 0;
	return err_set(err, ERR_INVALID, "%s: %s is not among the attributes", key, name);
}

static int factor_check(const struct use *use, const char *factor, struct err *err)
{
	struct decimal number;

	if (decimal_parse(factor, &number) < 0)
		return attribute_check(use, "quantity", text_or_empty(factor), err);
	return amount_check(factor, err) < 0 ? err_context(err, "quantity") : 0;
}

static int names_check(const struct use *use, const json_t *part, struct err *err)
{
	const json_t *quantity = json_object_get(part, "quantity"), *one;
	const char *name;
	json_t *wanted;
	size_t i;

	json_array_foreach(json_object_get(book_prices(use->book, part), "by"), i, one)
	{
		if (attribute_check(use, "by", json_string_value(one), err) < 0)
			return -1;
	}
	json_object_foreach(json_object_get(part, "when"), name, wanted)
	{
		if (attribute_check(use, "when", name, err) < 0)
			return -1;
	}
	json_array_foreach(quantity, i, one)
	{
		if (factor_check(use, json_string_value(one), err) < 0)
			return -1;
	}
	return !quantity || json_is_array(quantity) ? 0 : factor_check(use, json_string_value(quantity), err);
}

static int component_check(const struct use *use, const json_t *part, struct err *err)
{
	int priced =
		!!json_object_get(part, "table") + !!json_object_get(part, "prices") + !!json_object_get(part, "price");

	if (priced != 1)
		return wrong(err, "must have one of price, prices and table");
	if (!book_prices(use->book, part))
		return wrong(err, "table: names no table of this book");
	if (!book_text(use->book, part, "source") || !book_text(use->book, part, "date"))
		return err_set(err, ERR_INVALID, "must have a source and a date, of its own or of its table or book");
	return names_check(use, part, err) < 0 ? -1 : prices_check(part, err);
}

static int resource_check(const struct use *use, struct err *err)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(use->resource, "components"), i, part)
	{
		if (component_check(use, part, err) < 0)
			return err_context(err, "components: %zu", i);
	}
	return 0;
}

int book_check(const struct book *book, struct err *err)
{
	json_auto_t *format = json_loads(price_format[0].text, 0, NULL);
	const char *name;
	json_t *one;

	if (named_check(format, "book", book->source, err) < 0)
		return -1;
	json_object_foreach(json_object_get(book->source, "tables"), name, one)
	{
		if (prices_check(one, err) < 0)
			return err_context(err, "tables: %s", name);
	}
	json_object_foreach(json_object_get(book->source, "resources"), name, one)
	{
		if (resource_check(&(struct use){book, one}, err) < 0)
			return err_context(err, "resources: %s", name);
	}
	return 0;
}
