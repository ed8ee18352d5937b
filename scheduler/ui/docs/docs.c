/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/docs/docs.h"

#include "scheduler/api/api.h"
#include "scheduler/ui/page.h"

static const struct document *documents;
static size_t documents_count;

void docs_init(const struct document *all, size_t count)
{
	documents = all;
	documents_count = count;
}

static const struct document *document_named(const char *name)
{
	for (size_t i = 0; i < documents_count; i++)
		if (text_equal(documents[i].name, name))
			return &documents[i];
	return NULL;
}

static int index_respond(const struct document *index, struct response *res)
{
	struct buf bytes = BUF_INIT(index->length + 1);

	buf_append(&bytes, index->bytes, index->length);
	return respond_bytes(res, "application/json", &bytes);
}

static int document_respond(struct request *req, struct response *res, const char *name, struct err *err)
{
	const struct document *document = document_named(name);
	struct page_buf page;

	if (document && !*document->title)
		return index_respond(document, res);
	if (page_user(req, err) < 0)
		return -1;
	if (!document)
		return page_say(req, res, 404, "No such page", "The documentation has no page of this name.");
	page_begin_filled(&page, req, document->title, "docs");
	buf_append(&page.html, document->bytes, document->length);
	return page_send(&page, res, 200);
}

int ui_docs(struct request *req, struct response *res, struct err *err)
{
	return document_respond(req, res, "index", err);
}

int ui_docs_page(struct request *req, struct response *res, struct err *err)
{
	return document_respond(req, res, param(req, "page"), err);
}
