/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/price.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_SIZE = 256, HOURS_A_MONTH = 730 /* as in the clouds' own calculators */ };

/* The match of one resource against one book. */
struct match {
	const struct book *book;
	const json_t *resource;
	struct values values;
	struct pricing *pricing;
};

/* An attribute's value after its definition was applied. */
struct resolved {
	char text[VALUE_SIZE];
	bool sensitive;
};

static int unmatched(struct match *match, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int unmatched(struct match *match, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(match->pricing->reason, sizeof(match->pricing->reason), format, args);
	va_end(args);
	return -1;
}

void pricing_release(struct pricing *pricing)
{
	json_decref(pricing->components);
	*pricing = (struct pricing){.components = NULL};
}

/* ---- values ---- */

static const json_t *member(const json_t *tree, const char *name)
{
	long long index;

	if (json_is_object(tree))
		return json_object_get(tree, name);
	if (!isdigit((unsigned char)*name) || text_number(name, 0, INT32_MAX, &index) < 0)
		return NULL;
	return json_array_get(tree, (size_t)index);
}

/* The member or element at a path, or NULL: "root_block_device.0.iops". If a value on the way is `true`, returns that
 * value, because the trees of unknown and sensitive values mark whole subtrees this way. */
static const json_t *tree_at(const json_t *tree, const char *path)
{
	char name[JSON_NAME_SIZE];

	while (tree && !json_is_true(tree) && json_path_next(&path, name))
		tree = member(tree, name);
	return tree;
}

/* The tree that a path leads into, and the rest of the path. */
static const struct value_tree *tree_of(const struct values *values, const char **path)
{
	const struct {
		const char *prefix;
		const struct value_tree *tree;
	} trees[] = {{"each.", &values->each}, {"provider.", &values->provider}, {"env.", &values->env},
		{"", &values->planned}};
	size_t i = 0;

	while (!text_starts(*path, trees[i].prefix))
		i++;
	*path += strlen(trees[i].prefix);
	return trees[i].tree;
}

/* Numbers and booleans are texts. NULL for null, "", lists and objects. Borrowed. */
static const char *value_text(const json_t *value)
{
	const char *text = json_is_true(value) ? "true" : json_is_false(value) ? "false" : json_string_value(value);

	return text_or_null(text);
}

/* ---- attributes ---- */

/* The member of that name, or the member "*", which stands for all others. */
static const json_t *member_or_any(const json_t *object, const char *name)
{
	const json_t *own = json_object_get(object, name);

	return own ? own : json_object_get(object, "*");
}

/* Cuts the value at the last separator: "us-central1-a" becomes "us-central1". */
static void cut(const json_t *definition, struct resolved *value)
{
	const char *mark = json_string_at(definition, "until-last");
	char *at = mark ? strrchr(value->text, *mark) : NULL;

	if (at)
		*at = '\0';
}

static void map(const json_t *definition, struct resolved *value)
{
	const json_t *to = member_or_any(json_object_get(definition, "map"), value->text);

	if (to)
		text_copy(value->text, sizeof(value->text), json_string_value(to));
}

/* Replaces a number by the name of the smallest step that it fits in. A number beyond all steps is unchanged. */
static void step(const json_t *definition, struct resolved *value)
{
	const char *limit, *name = NULL;
	struct decimal number, best = {0};
	json_t *one;

	if (decimal_parse(value->text, &number) < 0)
		return;
	json_object_foreach(json_object_get(definition, "up-to"), limit, one)
	{
		struct decimal max = {0};

		decimal_parse(limit, &max);
		if (decimal_compare(number, max) > 0 || (name && decimal_compare(max, best) > 0))
			continue;
		best = max;
		name = json_string_value(one);
	}
	if (name)
		text_copy(value->text, sizeof(value->text), name);
}

/* The first of the attribute's sources that has a value, else its default. */
static int resolve(struct match *match, const char *name, struct resolved *ret_value)
{
	const json_t *definition = book_attribute(match->book, match->resource, name), *from;
	const char *text = json_string_at(definition, "default");
	bool unknown = false;
	size_t i;

	ret_value->sensitive = false;
	json_array_foreach(json_object_get(definition, "from"), i, from)
	{
		const char *path = json_string_value(from);
		const struct value_tree *tree = tree_of(&match->values, &path);
		const char *found = value_text(tree_at(tree->values, path));

		if (json_is_true(tree_at(tree->unknown, path))) {
			unknown = true;
		} else if (found) {
			text = found;
			ret_value->sensitive = json_is_true(tree_at(tree->sensitive, path));
			break;
		}
	}
	if (!text)
		return unmatched(match, unknown ? "its %s is known only after the apply" : "it says no %s", name);
	text_copy(ret_value->text, sizeof(ret_value->text), text);
	cut(definition, ret_value);
	map(definition, ret_value);
	step(definition, ret_value);
	return 0;
}

/* ---- price and quantity ---- */

static int no_price(struct match *match, const char *attribute, const struct resolved *value)
{
	if (value->sensitive)
		return unmatched(match, "the price book %s has no price for its %s", match->book->name, attribute);
	return unmatched(match, "the price book %s has no price for the %s \"%.100s\"", match->book->name, attribute,
		value->text);
}

static int unit_price(struct match *match, const json_t *component, struct decimal *ret_price)
{
	const json_t *holder = book_prices(match->book, component);
	const json_t *at = json_object_get(holder, "price"), *name;
	size_t i;

	if (!at)
		at = json_object_get(holder, "prices");
	json_array_foreach(json_object_get(holder, "by"), i, name)
	{
		struct resolved value;

		if (resolve(match, json_string_value(name), &value) < 0)
			return -1;
		at = member_or_any(at, value.text);
		if (!at)
			return no_price(match, json_string_value(name), &value);
	}
	return decimal_parse(json_string_value(at), ret_price);
}

static int factor(struct match *match, const char *text, struct decimal *ret_number)
{
	struct resolved value;

	if (decimal_parse(text, ret_number) == 0)
		return 0;
	if (resolve(match, text, &value) < 0)
		return -1;
	if (decimal_parse(value.text, ret_number) < 0 || ret_number->units < 0)
		return no_price(match, text, &value);
	return 0;
}

static int quantity(struct match *match, const json_t *component, struct decimal *ret_quantity)
{
	const json_t *factors = json_object_get(component, "quantity"), *one;
	struct decimal number = decimal_of(1), beyond;
	size_t i;

	*ret_quantity = number;
	if (json_is_string(factors) && factor(match, json_string_value(factors), ret_quantity) < 0)
		return -1;
	json_array_foreach(factors, i, one)
	{
		if (factor(match, json_string_value(one), &number) < 0)
			return -1;
		*ret_quantity = decimal_mul(*ret_quantity, number);
	}
	if (decimal_parse(json_string_at(component, "beyond"), &beyond) < 0)
		return 0;
	*ret_quantity = decimal_compare(*ret_quantity, beyond) > 0 ? decimal_sub(*ret_quantity, beyond) : decimal_of(0);
	return 0;
}

/* ---- components ---- */

static void component_add(struct match *match, const json_t *component, struct decimal price, struct decimal count,
	struct decimal monthly)
{
	char price_text[DECIMAL_TEXT_SIZE], count_text[DECIMAL_TEXT_SIZE], monthly_text[DECIMAL_TEXT_SIZE];

	decimal_text(price, 2, price_text);
	decimal_text(count, 0, count_text);
	decimal_text(monthly, 2, monthly_text);
	json_array_append_new(match->pricing->components,
		json_pack("{ss ss ss ss ss ss ss}", "name", json_string_at(component, "name"), "unit",
			json_string_at(component, "unit"), "quantity", count_text, "price", price_text, "monthly-cost",
			monthly_text, "source", book_text(match->book, component, "source"), "date",
			book_text(match->book, component, "date")));
}

static int price_component(struct match *match, const json_t *component)
{
	bool hourly = text_equal(json_string_at(component, "unit"), "hour");
	struct decimal price = {0}, count, monthly;

	if (quantity(match, component, &count) < 0)
		return -1;
	if (!count.broken && count.units == 0)
		return 0; /* quantity 0 needs no price */
	if (unit_price(match, component, &price) < 0)
		return -1;
	count = decimal_mul(count, decimal_of(hourly ? HOURS_A_MONTH : 1));
	monthly = decimal_mul(price, count);
	match->pricing->monthly = decimal_add(match->pricing->monthly, monthly);
	if (match->pricing->monthly.broken)
		return unmatched(match, "its cost has too many digits");
	component_add(match, component, price, count, monthly);
	return 0;
}

/* 1 if the component's conditions hold, 0 if not, -1 if that is unknown. */
static int component_applies(struct match *match, const json_t *component)
{
	const char *name;
	json_t *wanted;

	json_object_foreach(json_object_get(component, "when"), name, wanted)
	{
		struct resolved value;
		const json_t *one;
		bool found = false;
		size_t i;

		if (resolve(match, name, &value) < 0)
			return -1;
		json_array_foreach(wanted, i, one)
		{
			found |= text_equal(json_string_value(one), value.text);
		}
		if (!found)
			return 0;
	}
	return 1;
}

static int try_component(struct match *match, const json_t *component)
{
	int applies = component_applies(match, component);

	return applies > 0 ? price_component(match, component) : applies;
}

static const json_t *element(const json_t *list, size_t i)
{
	return json_is_array(list) ? json_array_get(list, i) : list;
}

/* Adds the component once for each element of a repeated block. */
static int try_each(struct match *match, const json_t *component, const char *path)
{
	const struct value_tree *planned = &match->values.planned;
	const struct value_tree blocks = {.values = tree_at(planned->values, path),
		.unknown = tree_at(planned->unknown, path),
		.sensitive = tree_at(planned->sensitive, path)};
	size_t count = json_is_array(blocks.values) ? json_array_size(blocks.values) : json_is_object(blocks.values);

	for (size_t i = 0; i < count; i++) {
		match->values.each = (struct value_tree){.values = element(blocks.values, i),
			.unknown = element(blocks.unknown, i),
			.sensitive = element(blocks.sensitive, i)};
		if (try_component(match, component) < 0)
			return -1;
	}
	return 0;
}

/* ---- books ---- */

static int try_book(struct match *match, const json_t *resource)
{
	const json_t *component;
	size_t i;

	match->resource = resource;
	json_array_foreach(json_object_get(resource, "components"), i, component)
	{
		const char *path = json_string_at(component, "each");

		if ((path ? try_each(match, component, path) : try_component(match, component)) < 0)
			return -1;
	}
	return 0;
}

void price_resource(
	const struct books *books, const char *type, const struct values *values, struct pricing *ret_pricing)
{
	struct match match = {.values = *values, .pricing = ret_pricing};

	*ret_pricing = (struct pricing){.components = json_array()};
	for (size_t i = books->count; i-- > 0 && !ret_pricing->matched;) {
		const json_t *resource = book_resource(&books->books[i], type);

		match.book = &books->books[i];
		ret_pricing->monthly = decimal_of(0);
		json_array_clear(ret_pricing->components);
		if (resource)
			ret_pricing->matched = try_book(&match, resource) == 0;
		else
			ret_pricing->matched = book_type_is_free(match.book, type);
	}
	if (!ret_pricing->matched && !*ret_pricing->reason)
		text_copy(ret_pricing->reason, sizeof(ret_pricing->reason), "no price book knows the type");
	if (ret_pricing->matched)
		ret_pricing->reason[0] = '\0';
}
