/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_MULTI_H
#define COMMON_HTTP_MULTI_H

/* Concurrent transfers of an epoll loop: libcurl's multi interface, driven by curl_multi_socket_action. */

#include <curl/curl.h>

#include "common/loop/loop.h"

struct multi {
	struct loop *loop; /* borrowed */
	CURLM *curl;
	struct loop_timer timer;
	void (*ended)(void *transfer, CURLcode code);
};

/* `ended` is called for each transfer that has ended, with its CURLOPT_PRIVATE. *multi must not move. */
void multi_open(struct multi *multi, struct loop *loop, void (*ended)(void *transfer, CURLcode code));
/* Every transfer must have been removed. */
void multi_close(struct multi *multi);

#endif
