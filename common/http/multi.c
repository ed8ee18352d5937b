/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/multi.h"

#include <sys/epoll.h>

#include "common/http/easy.h"

static void collect(struct multi *multi)
{
	void *transfer = NULL;
	CURLMsg *message;
	CURLcode code;
	int left;

	while ((message = curl_multi_info_read(multi->curl, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		code = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		multi->ended(transfer, code);
	}
}

static void socket_ready(void *data, int fd, unsigned events)
{
	struct multi *multi = data;
	int mask = 0, running;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		mask |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		mask |= CURL_CSELECT_OUT;
	curl_multi_socket_action(multi->curl, fd, mask, &running);
	collect(multi);
}

static int socket_wanted(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct multi *multi = data;

	(void)easy;
	(void)socket_data;
	if (what == CURL_POLL_REMOVE)
		loop_unwatch(multi->loop, fd);
	else
		loop_watch(multi->loop, fd, (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0),
			socket_ready, multi);
	return 0;
}

static void timer_fired(void *data)
{
	struct multi *multi = data;
	int running;

	curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(multi);
}

static int timer_wanted(CURLM *curl, long after_ms, void *data)
{
	struct multi *multi = data;

	(void)curl;
	if (after_ms < 0)
		loop_timer_clear(multi->loop, &multi->timer);
	else
		loop_timer_set(multi->loop, &multi->timer, after_ms, timer_fired, multi);
	return 0;
}

void multi_open(struct multi *multi, struct loop *loop, void (*ended)(void *transfer, CURLcode code))
{
	*multi = (struct multi){.loop = loop, .curl = multi_new(), .ended = ended};
	curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
	curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, timer_wanted);
	curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
}

void multi_close(struct multi *multi)
{
	curl_multi_cleanup(multi->curl);
	loop_timer_clear(multi->loop, &multi->timer);
}
