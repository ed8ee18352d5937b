/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_EASY_H
#define COMMON_EASY_H

/*
 * Requests as libcurl is told of them. Each option is copied, and one that is not there for want of memory would be
 * left out without a word: a request without its token, or by another method, and an answer to that. So an option is
 * there, or the process is not (common/base.h). What fails once a request is under way is an error as any.
 */

#include <curl/curl.h>

#include "common/base.h"

static inline void easy_there(CURLcode code)
{
	if (code == CURLE_OUT_OF_MEMORY)
		mem_out();
}

#define easy_set(easy, option, value) easy_there(curl_easy_setopt(easy, option, value))

/* The list with one line more; NULL begins one. Never NULL. */
static inline struct curl_slist *list_add(struct curl_slist *list, const char *line)
{
	return mem_there(curl_slist_append(list, line));
}

/* One that is not added would never end. */
static inline void multi_add(CURLM *multi, CURL *easy)
{
	if (curl_multi_add_handle(multi, easy) != CURLM_OK)
		mem_out();
}

/* Where it had no memory, libcurl has given up part of what it keeps of a socket and divides by its size with the next
 * event. */
static inline void multi_there(CURLMcode code)
{
	if (code == CURLM_OUT_OF_MEMORY)
		mem_out();
}

#endif
