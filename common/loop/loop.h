/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

/*
 * An epoll loop in one thread, without locks: descriptors, timers, children (pidfd) and signals (signalfd).
 * Callbacks may add and remove anything, themselves included. Work that takes the CPU or the disk for long is run in
 * a thread with loop_work, and its end is a callback as well.
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
/* Waits for all work items, without calling their `done`. */
void loop_free(struct loop *loop);
/* Runs until loop_stop. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Watches a descriptor for EPOLLIN, EPOLLOUT, ...; a second call changes the events. */
void loop_watch(struct loop *loop, int fd, unsigned events, loop_fd_fn fn, void *data);
/* Must be called before the descriptor is closed. */
void loop_unwatch(struct loop *loop, int fd);
/* Resets an eventfd, so that it is not readable until it is written to again. Does not block. */
void loop_eventfd_clear(int fd);
/* Makes an eventfd readable: its watcher is called after everything else that is due. */
void loop_eventfd_set(int fd);

struct loop_timer {
	int64_t due_ms; /* by clock_mono_ms; 0: not set */
	loop_timer_fn fn;
	void *data;
	uint64_t order; /* of timers that are due at the same time */
	size_t place;   /* in the loop's heap */
};
/* The timer is embedded in its owner, which keeps it until it has fired or is cleared. Setting it again moves it. There
 * may be thousands: the loop keeps them in a heap. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t after_ms, loop_timer_fn fn, void *data);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);

/* Calls fn once when the child has exited, and reaps it. */
int loop_child(struct loop *loop, int pid, loop_child_fn fn, void *data, struct err *err);
/* Stops watching the child: fn is not called, and the child is not reaped. */
void loop_child_forget(struct loop *loop, int pid);
/* Blocks the signals and delivers them as events. `signals` is terminated by 0. Must be called once, before any
 * thread is started. */
void loop_signals(struct loop *loop, const int *signals, loop_signal_fn fn, void *data);

/* Runs work(data) in a thread, then done(data) in the loop. `work` may use nothing but its data. At most
 * LOOP_THREADS run at a time; further items are queued. */
#define LOOP_THREADS 8
void loop_work(struct loop *loop, loop_work_fn work, loop_work_fn done, void *data);

#endif
