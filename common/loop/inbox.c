/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/inbox.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/loop/loop.h"

struct inbox {
	struct loop *loop;
	void *data;
	int fd;
	pthread_mutex_t lock;
	struct visit *head, **tail;
	bool closed;
};

static void collect(void *data, int fd, unsigned events)
{
	struct inbox *inbox = data;
	struct visit *visit, *next;
	uint64_t ignored;

	(void)events;
	if (read(fd, &ignored, sizeof(ignored)) < 0)
		return;
	pthread_mutex_lock(&inbox->lock);
	visit = inbox->head;
	inbox->head = NULL;
	inbox->tail = &inbox->head;
	pthread_mutex_unlock(&inbox->lock);
	for (; visit; visit = next) {
		next = visit->next;
		visit->come(inbox->data, visit);
	}
}

struct inbox *inbox_new(struct loop *loop, void *data)
{
	struct inbox *inbox = mem_new(1, sizeof(*inbox));

	inbox->loop = loop;
	inbox->data = data;
	inbox->tail = &inbox->head;
	inbox->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (inbox->fd < 0)
		abort(); /* no descriptors at the start: the process can't work */
	pthread_mutex_init(&inbox->lock, NULL);
	loop_watch(loop, inbox->fd, EPOLLIN, collect, inbox);
	return inbox;
}

bool inbox_put(struct inbox *inbox, struct visit *visit)
{
	uint64_t one = 1;
	bool closed, first;

	pthread_mutex_lock(&inbox->lock);
	closed = inbox->closed;
	first = !inbox->head;
	if (!closed) {
		visit->next = NULL;
		*inbox->tail = visit;
		inbox->tail = &visit->next;
	}
	pthread_mutex_unlock(&inbox->lock);
	if (!closed && first && write(inbox->fd, &one, sizeof(one)) < 0)
		return true; /* the counter is at its maximum, so the eventfd is readable as intended */
	return !closed;
}

void inbox_close(struct inbox *inbox)
{
	uint64_t one = 1;

	pthread_mutex_lock(&inbox->lock);
	inbox->closed = true;
	pthread_mutex_unlock(&inbox->lock);
	if (write(inbox->fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
		collect(inbox, inbox->fd, EPOLLIN);
}

void inbox_free(struct inbox *inbox)
{
	if (!inbox)
		return;
	loop_unwatch(inbox->loop, inbox->fd);
	close(inbox->fd);
	pthread_mutex_destroy(&inbox->lock);
	free(inbox);
}
