/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_BOOK_H
#define WORKER_COST_BOOK_H

/*
 * Price books: the price of a resource by its type and attributes (README.md in this folder describes the format).
 * They are read-only after loading, so every thread may read them.
 */

#include "common/json/json.h"

struct book {
	const char *name; /* in `source` */
	json_t *source;   /* the whole book, validated; every number in it is a text */
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
 * skipped, and the log names it. ERR_INVALID if the folder can't be read, or a book of the worker is invalid. */
int books_load(struct books *books, const char *folder, struct err *err);
void books_release(struct books *books);

/* Files that the build embeds: worker/cost/books in the order of their names, and the form of a book. */
struct embedded_book {
	const char *file;
	const char *text;
};
extern const struct embedded_book embedded_books[];
extern const size_t embedded_books_count;
extern const struct embedded_book price_format[];
extern const size_t price_format_count;

/* Validates a whole book, so that prices can be looked up without checks. ERR_INVALID: the place in the book and the
 * defect. */
int book_check(const struct book *book, struct err *err);

/* ---- for the evaluation ---- */

/* The book's entry for a type: a resource (an object with attributes and components), or NULL. Borrowed. */
const json_t *book_resource(const struct book *book, const char *type);
/* True if resources of the type are free by themselves. */
bool book_type_is_free(const struct book *book, const char *type);
/* An attribute's definition: the resource's own, or the book's, or NULL. Borrowed. */
const json_t *book_attribute(const struct book *book, const json_t *resource, const char *name);
/* The object that has the prices of a component: the component itself, or the book's table that it names. Borrowed. */
const json_t *book_prices(const struct book *book, const json_t *component);
/* The `source` or the `date` of a component's figures: its own, or its table's, or the book's. Borrowed; never NULL in
 * a valid book. */
const char *book_text(const struct book *book, const json_t *component, const char *name);

#endif
