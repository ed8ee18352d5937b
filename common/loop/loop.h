/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

/*
 * One epoll loop: descriptors, timers, children (pidfd) and signals (signalfd) in one thread, no locks.
 * Callbacks may add and remove anything, themselves included. What takes the processor or the disk for long is handed
 * to a thread with loop_work, and its end comes back as a callback like any other.
 */

#include "common/base.h"

struct err;
struct loop;

typedef void (*loop_fd_fn)(void *data, int fd, unsigned events);
typedef void (*loop_timer_fn)(void *data);
/* `status` is waitpid's. */
typedef void (*loop_child_fn)(void *data, int pid, int status);
typedef void (*loop_signal_fn)(void *data, int signal);
typedef void (*loop_work_fn)(void *data);

struct loop *loop_new(void);
/* Waits for all work, without its `done`. */
void loop_free(struct loop *loop);
/* Until loop_stop. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Watches a descriptor for EPOLLIN, EPOLLOUT, ...; a second call changes the events. */
void loop_watch(struct loop *loop, int fd, unsigned events, loop_fd_fn fn, void *data);
/* To be called before the descriptor is closed. */
void loop_unwatch(struct loop *loop, int fd);
/* Takes what an eventfd counts, so that it is not readable until it is written to again. It does not block. */
void loop_eventfd_clear(int fd);
/* Makes it readable: its watcher is called again, after whatever else is due. */
void loop_eventfd_set(int fd);

struct loop_timer {
	int64_t due_ms; /* of clock_mono_ms; 0: not set */
	loop_timer_fn fn;
	void *data;
	struct loop_timer *next;
};
/* Embedded in its owner, who keeps it until it fired or was cleared. Setting it again moves it. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t after_ms, loop_timer_fn fn, void *data);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);

/* Calls fn once when the child ended, and reaps it. */
int loop_child(struct loop *loop, int pid, loop_child_fn fn, void *data, struct err *err);
/* Calls nothing when it ends, and does not reap it. */
void loop_child_forget(struct loop *loop, int pid);
/* Blocks the signals and hands them over as events; `signals` is ended by 0. Once, before any thread is started. */
void loop_signals(struct loop *loop, const int *signals, loop_signal_fn fn, void *data);

/* Runs work(data) in a thread, then done(data) in the loop. `work` touches nothing but its data. At most
 * LOOP_THREADS run at a time; more wait their turn. */
#define LOOP_THREADS 8
void loop_work(struct loop *loop, loop_work_fn work, loop_work_fn done, void *data);

#endif
