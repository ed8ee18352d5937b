/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_EASY_H
#define COMMON_HTTP_EASY_H

/*
 * What libcurl begins with. Its memory is the program's: there, or the process is not (common/base.h). Where it has
 * none it leaves out what it was told, and nobody hears of it: a request without its query, a handle without half of
 * its defaults. What fails once a request is under way is an error as any.
 */

#include <curl/curl.h>

/* Never NULL; to be cleaned up as libcurl's own. */
CURL *easy_new(void);
CURLM *multi_new(void);

#endif
