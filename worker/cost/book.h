/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_BOOK_H
#define WORKER_COST_BOOK_H

/*
 * Price books: the price of a resource by its type and attributes (README.md in this folder describes the format).
 * They are read-only after loading, so every thread may read them.
 */

#include "common/json/json.h"

struct book {
	char *name;     /* the name in the book */
	json_t *source; /* the whole book, validated; every number in it is a text */
};

struct books {
	struct book *books; /* a later book takes precedence */
	size_t count;
	char currency[4]; /* of all books */
};

/* Validates the text of a book and adds it. A book in another currency replaces the existing books, because amounts
 * of two currencies can't be added. `file` is only used in messages. ERR_MALFORMED, ERR_INVALID: the defect and its
 * place in the book. */
int books_add(struct books *books, const char *file, const char *text, size_t len, struct err *err);
/* Loads the worker's own books, then those of the folder ("" for none) in the order of their names. An invalid book is
 * skipped, and the log names it. ERR_INVALID if the folder can't be read. */
int books_load(struct books *books, const char *folder, struct err *err);
void books_release(struct books *books);

/* The files of worker/cost/books, in the order of their names, embedded by the build. */
struct embedded_book {
	const char *file;
	const char *text;
};
extern const struct embedded_book embedded_books[];
extern const size_t embedded_books_count;

/* ---- book_check.c ---- */

/* Validates a whole book, so that a price lookup needs no checks. ERR_INVALID: the place in the book
 * ("resources.aws_eip.components.0.unit") and the defect. */
int book_check(const struct book *book, struct err *err);

/* ---- for the matching ---- */

/* The book's entry for a type: a resource (an object with attributes and components), or NULL. Borrowed. */
const json_t *book_resource(const struct book *book, const char *type);
/* True if resources of the type are free by themselves. */
bool book_type_is_free(const struct book *book, const char *type);
/* An attribute's definition: the resource's own, or the book's, or NULL. Borrowed. */
const json_t *book_attribute(const struct book *book, const json_t *resource, const char *name);
/* The object that has the prices of a component: the component itself, or the book's table that it names. Borrowed. */
const json_t *book_prices(const struct book *book, const json_t *component);
/* The source and the date of a component's figures. Borrowed; never NULL in a validated book. */
const char *book_source(const struct book *book, const json_t *component);
const char *book_date(const struct book *book, const json_t *component);

#endif
