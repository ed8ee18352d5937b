/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/easy.h"

#include <pthread.h>

#include "common/base.h"

static void *easy_memory(size_t size)
{
	return mem_resize(NULL, size, 1);
}

static void *easy_resize(void *old, size_t size)
{
	return mem_resize(old, size, 1);
}

static void library_begin(void)
{
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, easy_memory, free, easy_resize, mem_text, mem_new) != CURLE_OK)
		mem_out();
}

static void library_there(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, library_begin);
}

void easy_set_up(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
}

CURL *easy_new(void)
{
	CURL *easy;

	library_there();
	easy = mem_check(curl_easy_init());
	easy_set_up(easy);
	return easy;
}

CURLM *multi_new(void)
{
	library_there();
	return mem_check(curl_multi_init());
}
