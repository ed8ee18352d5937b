/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_INBOX_H
#define COMMON_LOOP_INBOX_H

/* The one way from the HTTP server's threads into the loop: a queue under a lock, and an eventfd. */

#include "common/base.h"

struct http_pending;
struct inbox;
struct loop;

/* A request on its way, embedded in what the loop makes of it. */
struct visit {
	struct http_pending *http;
	void (*come)(void *data, struct visit *visit); /* in the loop; owns the visit from there on */
	struct visit *next;
};

struct inbox *inbox_new(struct loop *loop, void *data);
void inbox_free(struct inbox *inbox);
/* From any thread. False once it is closed: the visit stays the caller's. */
bool inbox_put(struct inbox *inbox, struct visit *visit);
/* From the loop's thread: takes nothing more, and hands over what is in it. */
void inbox_close(struct inbox *inbox);

#endif
