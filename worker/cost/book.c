/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/book.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/cost/exact.h"

enum { BOOK_LIMIT = 64 << 20 };

/* ---- adding ---- */

static void drop_all(struct books *books)
{
	while (books->count)
		json_decref(books->books[--books->count].source);
}

int books_add(struct books *books, const char *file, const char *text, size_t len, struct err *err)
{
	const char *currency;
	struct book book = {.source = NULL};

	if (exact_parse(text, len, &book.source, err) < 0 || book_check(&book, err) < 0) {
		json_decref(book.source);
		return err_context(err, "%s", file);
	}
	book.name = json_string_at(book.source, "name");
	currency = json_string_at(book.source, "currency");
	if (books->count && !text_equal(books->currency, currency)) {
		log_info("price books in another currency are put aside", "kept", file, "currency", currency, NULL);
		drop_all(books);
	}
	text_copy(books->currency, sizeof(books->currency), currency);
	books->books = mem_resize(books->books, books->count + 1, sizeof(*books->books));
	books->books[books->count++] = book;
	return 0;
}

void books_release(struct books *books)
{
	drop_all(books);
	free(books->books);
	*books = (struct books){.books = NULL};
}

/* ---- loading ---- */

static void add_file(struct books *books, const char *folder, const char *name)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, name);
	_cleanup_(buf_release) struct buf text = BUF_INIT(BOOK_LIMIT);
	struct err err = ERR_INIT;

	if (buf_read_file(&text, path, &err) < 0 || books_add(books, path, buf_str(&text), text.len, &err) < 0)
		log_error("a price book is left out", "book", path, "why", err.message, NULL);
}

static int is_book(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && text_equal(entry->d_name + len - 5, ".json");
}

static int add_folder(struct books *books, const char *folder, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_book, alphasort);

	if (count < 0)
		return err_set(err, ERR_INVALID, "the price books in %s can't be read: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		add_file(books, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

int books_load(struct books *books, const char *folder, struct err *err)
{
	for (size_t i = 0; i < embedded_books_count; i++) {
		const struct embedded_book *book = &embedded_books[i];

		if (books_add(books, book->file, book->text, strlen(book->text), err) < 0)
			return -1;
	}
	if (*folder && add_folder(books, folder, err) < 0)
		return -1;
	for (size_t i = 0; i < books->count; i++)
		log_debug("price book", "name", books->books[i].name, "currency", books->currency, NULL);
	return 0;
}

/* ---- looking up ---- */

const json_t *book_resource(const struct book *book, const char *type)
{
	return json_object_get(json_object_get(book->source, "resources"), type);
}

bool book_type_is_free(const struct book *book, const char *type)
{
	const json_t *types = json_at(book->source, "free.types"), *one;
	size_t i;

	json_array_foreach(types, i, one)
	{
		if (text_equal(json_string_value(one), type))
			return true;
	}
	return false;
}

const json_t *book_attribute(const struct book *book, const json_t *resource, const char *name)
{
	const json_t *own = json_object_get(json_object_get(resource, "attributes"), name);

	return own ? own : json_object_get(json_object_get(book->source, "attributes"), name);
}

const json_t *book_prices(const struct book *book, const json_t *component)
{
	const char *table = json_string_at(component, "table");

	return table ? json_object_get(json_object_get(book->source, "tables"), table) : component;
}

const char *book_text(const struct book *book, const json_t *component, const char *name)
{
	const char *own = json_string_at(component, name);
	const char *shared = own ? own : json_string_at(book_prices(book, component), name);

	return shared ? shared : json_string_at(book->source, name);
}
