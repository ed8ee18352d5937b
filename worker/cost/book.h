/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_BOOK_H
#define WORKER_COST_BOOK_H

/*
 * Price books (README.md in this folder describes the format): what a resource of a type costs, by the attributes that
 * matter. Read-only once they are loaded, so that every thread may look into them.
 */

#include "common/json.h"

struct book {
	char *name;     /* as it names itself */
	json_t *source; /* the whole of it, checked; every number in it is a text */
};

struct books {
	struct book *books; /* the later wins */
	size_t count;
	char currency[4]; /* of all of them */
};

/* Checks one book's text and adds it. A book in another currency than those that are there takes their place: amounts
 * of two currencies can't be added up. `file` is for the message alone. ERR_MALFORMED, ERR_INVALID: what is wrong, and
 * where in it. */
int books_add(struct books *books, const char *file, const char *text, size_t len, struct err *err);
/* Loads the books that the worker came with, then those of the folder ("" for none) in the order of their names. A book
 * that is broken is left out and named in the log. ERR_INVALID if the folder can't be read. */
int books_load(struct books *books, const char *folder, struct err *err);
void books_release(struct books *books);

/* The files of worker/cost/books, in the order of their names, as the build embeds them. */
struct embedded_book {
	const char *file;
	const char *text;
};
extern const struct embedded_book embedded_books[];
extern const size_t embedded_books_count;

/* ---- for the matching ---- */

/* What the book has for a type: a resource (an object with attributes and components), or NULL. Borrowed. */
const json_t *book_resource(const struct book *book, const char *type);
/* True if resources of the type cost nothing by themselves. */
bool book_type_is_free(const struct book *book, const char *type);
/* An attribute's definition: the resource's own, or the book's, or NULL. Borrowed. */
const json_t *book_attribute(const struct book *book, const json_t *resource, const char *name);
/* What holds the prices of a component: the component itself, or the book's table that it names. Borrowed. */
const json_t *book_prices(const struct book *book, const json_t *component);
/* Where a component's figures come from, and of when they are. Borrowed; never NULL in a book that was checked. */
const char *book_source(const struct book *book, const json_t *component);
const char *book_date(const struct book *book, const json_t *component);

#endif
