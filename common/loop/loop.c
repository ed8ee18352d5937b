/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <pthread.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/loop/progress.h"

/* The watch of a descriptor. The generation identifies stale events of an earlier descriptor with the same number. */
struct watch {
	loop_fd_fn fn;
	void *data;
	uint32_t generation;
};

struct work {
	loop_work_fn work;
	loop_work_fn done;
	void *data;
	struct work *next;
};

struct loop {
	int epoll;
	bool stopped;
	struct watch *watches; /* by descriptor */
	size_t watch_count;
	uint32_t generation;
	struct loop_timer **timers; /* a binary heap, the earliest first */
	size_t timer_count, timer_room;
	uint64_t timer_order;
	int signals; /* signalfd, or -1 */
	loop_signal_fn signal_fn;
	void *signal_data;

	int work_ended;                  /* eventfd */
	pthread_t threads[LOOP_THREADS]; /* started on demand, and kept */
	size_t thread_count;
	pthread_cond_t work_came;
	pthread_mutex_t lock;       /* guards the next fields */
	struct work *work_waiting;  /* the oldest first */
	struct work **waiting_last; /* the end of the queue */
	struct work *work_done;
	size_t work_count; /* waiting or running */
	bool work_over;
};

static void work_collect(void *data, int fd, unsigned events);

struct loop *loop_new(void)
{
	struct loop *loop = mem_new(1, sizeof(*loop));

	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->signals = -1;
	loop->work_ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->epoll < 0 || loop->work_ended < 0)
		abort(); /* no descriptors at the start: the process can't work */
	pthread_mutex_init(&loop->lock, NULL);
	pthread_cond_init(&loop->work_came, NULL);
	loop->waiting_last = &loop->work_waiting;
	loop_watch(loop, loop->work_ended, EPOLLIN, work_collect, loop);
	return loop;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

/* ---- descriptors ---- */

void loop_watch(struct loop *loop, int fd, unsigned events, loop_fd_fn fn, void *data)
{
	struct epoll_event event = {.events = events};
	struct watch *watch;
	size_t count = loop->watch_count;

	if ((size_t)fd >= count) {
		loop->watch_count = (size_t)fd + 64;
		loop->watches = mem_resize(loop->watches, loop->watch_count, sizeof(*loop->watches));
		for (; count < loop->watch_count; count++)
			loop->watches[count] = (struct watch){0};
	}
	watch = &loop->watches[fd];
	*watch = (struct watch){.fn = fn, .data = data, .generation = ++loop->generation};
	event.data.u64 = (uint64_t)watch->generation << 32 | (uint32_t)fd;
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) < 0 && errno == ENOENT)
		epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event);
}

void loop_eventfd_clear(int fd)
{
	uint64_t ignored;

	if (read(fd, &ignored, sizeof(ignored)) < 0)
		return; /* it was clear */
}

void loop_eventfd_set(int fd)
{
	eventfd_write(fd, 1);
}

void loop_unwatch(struct loop *loop, int fd)
{
	if (fd < 0 || (size_t)fd >= loop->watch_count || !loop->watches[fd].fn)
		return;
	loop->watches[fd] = (struct watch){0};
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void loop_dispatch(struct loop *loop, const struct epoll_event *event)
{
	uint32_t fd = (uint32_t)event->data.u64;
	struct watch watch = loop->watches[fd];

	if (watch.fn && watch.generation == event->data.u64 >> 32)
		watch.fn(watch.data, (int)fd, event->events);
}

/* ---- timers ---- */

static bool is_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void timer_put(struct loop *loop, size_t place, struct loop_timer *timer)
{
	loop->timers[place] = timer;
	timer->place = place;
}

/* Puts the timer at the place, or where it belongs above it. */
static void timer_rise(struct loop *loop, size_t place, struct loop_timer *timer)
{
	for (; place > 0 && is_before(timer, loop->timers[(place - 1) / 2]); place = (place - 1) / 2)
		timer_put(loop, place, loop->timers[(place - 1) / 2]);
	timer_put(loop, place, timer);
}

/* Puts the timer at the place, or where it belongs below it. */
static void timer_sink(struct loop *loop, size_t place, struct loop_timer *timer)
{
	size_t child;

	for (; (child = 2 * place + 1) < loop->timer_count; place = child) {
		if (child + 1 < loop->timer_count && is_before(loop->timers[child + 1], loop->timers[child]))
			child++;
		if (!is_before(loop->timers[child], timer))
			break;
		timer_put(loop, place, loop->timers[child]);
	}
	timer_put(loop, place, timer);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer *last;

	if (!timer->due_ms)
		return;
	timer->due_ms = 0;
	last = loop->timers[--loop->timer_count];
	if (last == timer)
		return;
	timer_sink(loop, timer->place, last);
	timer_rise(loop, last->place, last);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t after_ms, loop_timer_fn fn, void *data)
{
	loop_timer_clear(loop, timer);
	timer->due_ms = clock_mono_ms() + after_ms;
	timer->fn = fn;
	timer->data = data;
	timer->order = ++loop->timer_order;
	if (loop->timer_count == loop->timer_room) {
		loop->timer_room = loop->timer_room ? loop->timer_room * 2 : 64;
		loop->timers = mem_resize(loop->timers, loop->timer_room, sizeof(*loop->timers));
	}
	timer_rise(loop, loop->timer_count++, timer);
}

static int loop_wait_ms(const struct loop *loop)
{
	int64_t left;

	if (!loop->timer_count)
		return -1;
	left = loop->timers[0]->due_ms - clock_mono_ms();
	if (left < 0)
		return 0;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Fires the timers that are due now. The time is read once, so that a timer that sets itself again at once does not
 * starve the rest of the loop. */
static void loop_fire(struct loop *loop)
{
	int64_t now = clock_mono_ms();

	while (loop->timer_count && loop->timers[0]->due_ms <= now && !loop->stopped) {
		struct loop_timer *timer = loop->timers[0];

		loop_timer_clear(loop, timer);
		timer->fn(timer->data);
	}
}

void loop_run(struct loop *loop)
{
	struct epoll_event events[64];
	int count;

	loop->stopped = false;
	while (!loop->stopped) {
		progress_idle();
		count = epoll_wait(loop->epoll, events, ARRAY_LEN(events), loop_wait_ms(loop));
		progress_busy("event loop");
		for (int i = 0; i < count && !loop->stopped; i++)
			loop_dispatch(loop, &events[i]);
		loop_fire(loop);
	}
	progress_idle();
}

/* ---- children ---- */

struct loop_child_watch {
	struct loop *loop;
	int pid;
	loop_child_fn fn;
	void *data;
};

static void child_ended(void *data, int fd, unsigned events)
{
	struct loop_child_watch child = *(struct loop_child_watch *)data;
	int status = 0;

	(void)events;
	if (waitpid(child.pid, &status, WNOHANG) == 0)
		return;
	loop_unwatch(child.loop, fd);
	close(fd);
	free(data);
	child.fn(child.data, child.pid, status);
}

int loop_child(struct loop *loop, int pid, loop_child_fn fn, void *data, struct err *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct loop_child_watch *child;

	if (fd < 0)
		return err_errno(err, "pidfd_open");
	child = mem_new(1, sizeof(*child));
	*child = (struct loop_child_watch){.loop = loop, .pid = pid, .fn = fn, .data = data};
	loop_watch(loop, fd, EPOLLIN, child_ended, child);
	return 0;
}

void loop_child_forget(struct loop *loop, int pid)
{
	for (size_t fd = 0; fd < loop->watch_count; fd++) {
		struct loop_child_watch *child = loop->watches[fd].data;

		if (loop->watches[fd].fn != child_ended || child->pid != pid)
			continue;
		loop_unwatch(loop, (int)fd);
		close((int)fd);
		free(child);
	}
}

/* ---- signals ---- */

static void signal_came(void *data, int fd, unsigned events)
{
	struct loop *loop = data;
	struct signalfd_siginfo info;

	(void)events;
	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		loop->signal_fn(loop->signal_data, (int)info.ssi_signo);
}

void loop_signals(struct loop *loop, const int *signals, loop_signal_fn fn, void *data)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	loop->signal_fn = fn;
	loop->signal_data = data;
	loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signals >= 0)
		loop_watch(loop, loop->signals, EPOLLIN, signal_came, loop);
}

/* ---- threads ---- */

/* Under the lock. Returns the next work item, or NULL if no more will come. */
static struct work *work_next(struct loop *loop)
{
	struct work *work;

	while (!loop->work_waiting && !loop->work_over)
		pthread_cond_wait(&loop->work_came, &loop->lock);
	work = loop->work_waiting;
	if (work && !(loop->work_waiting = work->next))
		loop->waiting_last = &loop->work_waiting;
	return work;
}

/* Without the lock. */
static void work_do(struct loop *loop, struct work *work)
{
	work->work(work->data);
	pthread_mutex_lock(&loop->lock);
	work->next = loop->work_done;
	loop->work_done = work;
	loop->work_count--;
	pthread_mutex_unlock(&loop->lock);
	loop_eventfd_set(loop->work_ended);
}

static void *work_thread(void *data)
{
	struct loop *loop = data;
	struct work *work;

	for (;;) {
		pthread_mutex_lock(&loop->lock);
		work = work_next(loop);
		pthread_mutex_unlock(&loop->lock);
		if (!work)
			return NULL;
		work_do(loop, work);
	}
}

static void work_collect(void *data, int fd, unsigned events)
{
	struct loop *loop = data;
	struct work *done, *next;

	(void)events;
	loop_eventfd_clear(fd);
	pthread_mutex_lock(&loop->lock);
	done = loop->work_done;
	loop->work_done = NULL;
	pthread_mutex_unlock(&loop->lock);
	for (; done; done = next) {
		next = done->next;
		if (done->done)
			done->done(done->data);
		free(done);
	}
}

/* Returns true if a thread will run it. */
static bool work_add(struct loop *loop, struct work *work)
{
	bool more;

	pthread_mutex_lock(&loop->lock);
	more = ++loop->work_count > loop->thread_count && loop->thread_count < LOOP_THREADS;
	if (more && pthread_create(&loop->threads[loop->thread_count], NULL, work_thread, loop) == 0)
		loop->thread_count++;
	if (loop->thread_count) {
		*loop->waiting_last = work;
		loop->waiting_last = &work->next;
		pthread_cond_signal(&loop->work_came);
	}
	pthread_mutex_unlock(&loop->lock);
	return loop->thread_count > 0;
}

void loop_work(struct loop *loop, loop_work_fn work, loop_work_fn done, void *data)
{
	struct work *item = mem_new(1, sizeof(*item));

	*item = (struct work){.work = work, .done = done, .data = data};
	if (!work_add(loop, item))
		work_do(loop, item); /* no thread could be started: blocks the loop, but has the same result */
}

static void works_free(struct work *work)
{
	while (work) {
		struct work *next = work->next;

		free(work);
		work = next;
	}
}

static void work_settle(struct loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->work_over = true;
	pthread_cond_broadcast(&loop->work_came);
	pthread_mutex_unlock(&loop->lock);
	for (size_t i = 0; i < loop->thread_count; i++)
		pthread_join(loop->threads[i], NULL);
	works_free(loop->work_done);
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	work_settle(loop);
	if (loop->signals >= 0)
		close(loop->signals);
	close(loop->work_ended);
	close(loop->epoll);
	pthread_cond_destroy(&loop->work_came);
	pthread_mutex_destroy(&loop->lock);
	free(loop->timers);
	free(loop->watches);
	free(loop);
}
