/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_EASY_H
#define COMMON_HTTP_EASY_H

/*
 * Creates libcurl's handles. From its initialization on, libcurl's memory comes from the allocators of
 * common/base.h, which end the process when out of memory. Otherwise libcurl would ignore failed allocations
 * silently: it would send a request without its query, or leave a handle without some defaults. Errors while a
 * request runs are reported as usual.
 */

#include <curl/curl.h>

/* Never NULL; freed with libcurl's own functions. A handle uses no signals, and does not wait for the lookup of a name
 * when the time of its request is over. */
CURL *easy_new(void);
/* Sets the options of a new handle again, after curl_easy_reset. */
void easy_set_up(CURL *easy);
CURLM *multi_new(void);

#endif
