/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_VALUES_VALUE_H
#define POLICY_VALUES_VALUE_H

/*
 * Values of the policy language: 16 bytes, passed by value. What they point to is the arena's (core/run.h) and lives as
 * long as the run.
 *
 * A string is bytes. Lists and maps are references: two values with the same pointer are the same object.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/core/run.h"

enum value_type {
	VALUE_UNDEFINED,
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_STRING,
	VALUE_LIST,
	VALUE_MAP,
	VALUE_FUNCTION, /* of the policy (a closure) or native */
	VALUE_RULE,     /* forced when it is used; only variables and modules' fields hold one */
	VALUE_IMPORT,   /* the name of an import: only its fields can be read */
	VALUE_TYPES,
	/* Not values of the language. */
	VALUE_LAZY = VALUE_TYPES, /* in lists and maps: an element that is not made yet (values/containers.h) */
	VALUE_UNSET,              /* in frames: a variable without a value. In rooms of maps: a deleted entry */
};

struct lazy;

struct string;
struct list;
struct map;
struct function;
struct rule;
struct import;

struct value {
	enum value_type type;
	uint32_t offset; /* VALUE_UNDEFINED: where it arose in `origin`. VALUE_LAZY: for lazy->make */
	union {
		const struct source *origin; /* VALUE_UNDEFINED; NULL: not known */
		bool truth;
		int64_t number;
		double real;
		const struct string *string;
		struct list *list;
		struct map *map;
		const struct function *function;
		struct rule *rule;
		const struct import *import;
		const struct lazy *lazy;
	};
};

/* ---- scalars ---- */

/* Undefined, with run->at as its origin. */
struct value value_undefined(const struct run *run);
struct place value_origin(struct value undefined);
struct value value_null(void);
struct value value_bool(bool truth);
struct value value_int(int64_t number);
struct value value_float(double real);
static inline bool value_is(struct value value, enum value_type type)
{
	return value.type == type;
}
static inline bool value_is_number(struct value value)
{
	return value.type == VALUE_INT || value.type == VALUE_FLOAT;
}
/* As types.type_of and messages name it: "string", "null". */
const char *value_type_name(struct value value);

/* ---- strings ---- */

/*
 * A string's bytes may have spare room behind them, into which only the newest string of that room grows: `s += "x"` in
 * a loop is linear in time and memory. An older string of the same room keeps its length.
 */
struct string_room;
struct string {
	size_t len;               /* at most MAX_STRING */
	const char *bytes;        /* not terminated */
	struct string_room *room; /* NULL: bytes that never grow */
};

/* Copies the bytes. */
struct value string_new(struct run *run, const char *bytes, size_t len);
/* Borrows the bytes, which must live as long as the run. */
struct value string_borrow(struct run *run, const char *bytes, size_t len);
struct value string_text(struct run *run, const char *text);
struct value string_concat(struct run *run, struct value a, struct value b);
/* `from` <= `to` <= length. Shares the bytes. */
struct value string_slice(struct run *run, struct value string, size_t from, size_t to);
bool string_equals(struct value string, const char *text);
static inline size_t string_len(struct value string)
{
	return string.string->len;
}
static inline const char *string_bytes(struct value string)
{
	return string.string->bytes;
}

/* ---- lists and maps ---- */

/*
 * Containers of an import or of a module's variables are read through views (value_view): the reader sees the data, and
 * his changes stay his own. An element may be lazy: it is made when it is read first.
 */

/* Makes elements when they are first read. `offset` is that of the lazy value: one `struct lazy` can make all elements
 * of a document, which then take no memory of their own. Must not return a lazy element. */
struct lazy {
	struct value (*make)(struct run *run, const void *data, uint32_t offset);
	const void *data;
};

struct value list_new(struct run *run, size_t capacity);
size_t list_len(struct value list);
/* index < list_len */
struct value list_at(struct run *run, struct value list, size_t index);
void list_set(struct run *run, struct value list, size_t index, struct value element);
/* Fails if it would be longer than MAX_LIST. */
void list_push(struct run *run, struct value list, struct value element);
/* A new list; a += b in a loop is linear, as with strings. */
struct value list_concat(struct run *run, struct value a, struct value b);
struct value list_slice(struct run *run, struct value list, size_t from, size_t to);

/* Maps keep the order of insertion. Keys are bools, numbers and strings; 1 and 1.0 are one key. Any other key is an
 * error of the run. */
struct value map_new(struct run *run, size_t capacity);
size_t map_len(struct value map);
/* False if there is no such key, with *ret_element untouched. */
bool map_get(struct run *run, struct value map, struct value key, struct value *ret_element);
bool map_get_text(struct run *run, struct value map, const char *key, struct value *ret_element);
bool map_get_bytes(struct run *run, struct value map, const char *key, size_t len, struct value *ret_element);
void map_set(struct run *run, struct value map, struct value key, struct value element);
void map_set_text(struct run *run, struct value map, const char *key, struct value element);
void map_set_lazy(struct run *run, struct value map, struct value key, struct lazy element);
/* Members of the map `hidden` are found by name as if `map` had them. Neither prints nor iterations show them. */
void map_hide(struct value map, struct value hidden);
/* False if there was no such key. The order of the others stays. */
bool map_delete(struct run *run, struct value map, struct value key);

/* Iteration, also over what is changed meanwhile: it visits the elements of the moment at which it began. Works for
 * lists (key: the index) and maps; any other type is an error.
 *
 *	struct iterator at = value_iterate(run, container);
 *	while (iterator_next(run, &at)) use(at.key, at.element);
 */
struct view_cache;
struct iterator {
	struct value key, element;
	bool map;
	size_t index, count; /* of the room's elements or entries */
	void *room;
	size_t offset;            /* of a list's first element in its room */
	struct view_cache *cache; /* of a view */
};
struct iterator value_iterate(struct run *run, struct value container);
bool iterator_next(struct run *run, struct iterator *iterator);

/* What a reader of an import or module gets: scalars and functions as they are, lists and maps as views. Constant time;
 * a change of the view, or of what is reached through it, copies what it needs. The same element of the same view is
 * the same object each time. */
struct value value_view(struct run *run, struct value value);

/* ---- of any type ---- */

/* Deep equality as `is` has it, for defined values: other types are not equal, ints and floats are compared as numbers.
 */
bool value_equal(struct run *run, struct value a, struct value b);

/* -1, 0, 1: how two numbers compare; of an int and a float, the int is converted. 2 if one is NaN. */
int number_compare(struct value a, struct value b);

/* How print and traces show values. VALUE_BARE: a string at the top without quotes. Floats: the shortest that reads
 * back as the same float. */
enum value_form { VALUE_QUOTED, VALUE_BARE };
/* A string value. Counts steps; fails at MAX_STRING. */
struct value value_print(struct run *run, struct value value, enum value_form form);

/* ---- functions ---- */

struct function {
	const struct native *native; /* or NULL: a closure */
	const void *data;
	/* Of a closure. `count` is checked against the arity by value_call. */
	struct value (*call)(struct run *run, const struct function *function, const struct value *args, size_t count);
	size_t arity;
};

/* A native function. `args` has between min_args and max_args values, none of them a rule. If one is undefined the
 * result is undefined and the function is not called, unless takes_undefined. */
struct native {
	const char *name;           /* "trim_prefix" */
	uint8_t min_args, max_args; /* max_args: NATIVE_ANY for any number */
	bool takes_undefined;
	struct value (*call)(struct run *run, const struct value *args, size_t count, const void *data);
};

enum { NATIVE_ANY = 255 };

/* `native` must live as long as the run; `data` is given to its calls (methods: the object). */
struct value function_native(struct run *run, const struct native *native, const void *data);
/* The number of parameters; of a native function the most. */
size_t function_arity(struct value function);
/* Calls a function of either kind. Fails on a wrong number of arguments. Undefined on an undefined `function`; any
 * other value that is no function is an error. For predicates of native functions, too. */
struct value value_call(struct run *run, struct value function, const struct value *args, size_t count);
/* Fails if a function with such a name, or "" for none, can't be called with `count` arguments. */
void call_check(struct run *run, const char *name, size_t min, size_t max, size_t count);
/* Calls a native function, without a value for it. */
struct value native_call(
	struct run *run, const struct native *native, const void *data, const struct value *args, size_t count);

/* ---- imports ---- */

/* A standard import, or one of the Terraform imports: a table of functions, and fields that are computed. */
struct import {
	const char *name; /* "strings", "tfplan/v2" */
	const struct native *functions;
	size_t function_count;
	/* Or NULL. False: there is no such field (the result is undefined). Its result is read through value_view. */
	bool (*field)(
		struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field);
	const void *data; /* for `field` and the functions */
};

/* The function of the import, or NULL. Its calls get import->data. */
const struct native *import_function(const struct import *import, const char *name, size_t len);
/* A field or function of the import. False if there is none. */
bool import_get(struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_value);

#endif
