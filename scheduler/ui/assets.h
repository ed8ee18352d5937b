/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_ASSETS_H
#define SCHEDULER_UI_ASSETS_H

/*
 * The files of the web UI's browser part: scripts, styles and icons, whose names have a hash of their content. The
 * build embeds them in the program (web/bundle). For development they are read from a directory at each request.
 */

#include "common/base.h"
#include "common/buf.h"

#define ASSETS_PATH "/assets"

struct asset {
	const char *name; /* for pages: "app.js"; "preload" for chunks that app.js imports at once; "-" for others */
	const char *file; /* "app-4KQ7WZ2J.js" */
	const char *type; /* content type */
	const char *etag;
	const char *bytes;
	size_t length;
	const char *gzip;
	size_t gzip_length;
};

/* Written by the build. */
extern const struct asset embedded_assets[];
extern const size_t embedded_assets_count;

/* Sets the assets, once, before the first request. Borrows them. Files in `folder` replace them; NULL or "": none. */
void assets_init(const struct asset *assets, size_t count, const char *folder);
/* Calls `each` with every asset of that name. Only the name and the file are set. */
void assets_named(const char *name, void (*each)(void *data, const struct asset *asset), void *data);
/* A text that differs between builds of the assets. */
const char *assets_build(void);

#endif
