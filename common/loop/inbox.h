/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_INBOX_H
#define COMMON_LOOP_INBOX_H

/* Passes requests from the HTTP server's threads to the loop, with a queue under a lock and an eventfd. */

#include "common/base.h"

struct http_pending;
struct inbox;
struct loop;

/* A request in the queue, embedded in a struct of the module that handles it. */
struct visit {
	struct http_pending *http;
	void (*come)(void *data, struct visit *visit); /* called in the loop; owns the visit from then on */
	struct visit *next;
};

struct inbox *inbox_new(struct loop *loop, void *data);
void inbox_free(struct inbox *inbox);
/* From any thread. Returns false once the inbox is closed: the caller keeps the visit. */
bool inbox_put(struct inbox *inbox, struct visit *visit);
/* From the loop's thread. Accepts no more visits and hands over those in the queue. */
void inbox_close(struct inbox *inbox);

#endif
