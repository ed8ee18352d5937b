/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_DOCS_DOCS_H
#define SCHEDULER_UI_DOCS_DOCS_H

/*
 * The documentation: pages that the build makes of the repository's Markdown (web/tools/docs.mjs) and embeds in the
 * program. Nobody has to sign in to read them, since they have nothing of a tenant.
 */

#include "common/base.h"

struct document {
	const char *name;  /* the last part of its address; "index" is DOCS_PATH itself */
	const char *title; /* "" for search.json, the index of the search */
	const char *bytes; /* the part of the page below the site's bar */
	size_t length;
};

#define DOCS_PATH "/app/docs"

/* Written by the build. */
extern const struct document embedded_documents[];
extern const size_t embedded_documents_count;

/* Sets the pages, once, before the first request. Borrows them. */
void docs_init(const struct document *documents, size_t count);

#endif
