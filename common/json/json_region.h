/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JSON_JSON_REGION_H
#define COMMON_JSON_JSON_REGION_H

/*
 * Memory for JSON that ends with the request it was made for: one after the other in blocks, each of which is used
 * again when nothing in it is left. A value that stays keeps its whole block, so it is for threads whose values all go.
 */

#include <stdbool.h>

/* Whether the address sanitizer is to see each value by itself. */
#ifdef __SANITIZE_ADDRESS__
static const bool json_is_watched = true;
#else
static const bool json_is_watched = false;
#endif

/* Before the process has made any JSON. */
void json_regions_use(void);
/* The calling thread's values are made in blocks from now on; any thread may let go of them. */
void json_region_enter(void);

#endif
