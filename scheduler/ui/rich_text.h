/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_RICH_TEXT_H
#define SCHEDULER_UI_RICH_TEXT_H

#include "common/buf.h"

/*
 * Appends HTML that a site admin wrote, as far as it is harmless: a few elements without attributes, and links to http,
 * https, mailto and this site. Other tags are left out, their text stays. Every element is closed, and nothing that
 * stands outside can be.
 */
void rich_text(struct buf *out, const char *html);

#endif
