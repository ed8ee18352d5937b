/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JSON_JSON_REGION_H
#define COMMON_JSON_JSON_REGION_H

/*
 * A memory region for JSON values that live as long as one request. Values are allocated consecutively in blocks. A
 * block is reused or freed when no value in it is left. A value that lives longer keeps its whole block, so regions
 * are only for threads whose values are all short-lived.
 */

#include <stdbool.h>

/* Whether values are allocated one by one, for the address sanitizer. */
#ifdef __SANITIZE_ADDRESS__
static const bool json_is_watched = true;
#else
static const bool json_is_watched = false;
#endif

/* Installs the allocator. Must be called before the process creates any JSON. */
void json_regions_use(void);
/* From now on the values of the calling thread are allocated in blocks. Any thread may free them. */
void json_region_enter(void);

#endif
