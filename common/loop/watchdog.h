/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_WATCHDOG_H
#define COMMON_LOOP_WATCHDOG_H

/*
 * Bounds how long a process takes to exit. Some libraries wait for servers when they are closed; librdkafka, for
 * example, never ends some threads after a topic was deleted. A process that is about to exit sets a deadline. If it
 * has not exited by then, a thread logs what the process was doing and calls _exit.
 */

enum {
	WATCHDOG_REQUESTS_MS = 10000, /* requests in flight; a client without an answer retries */
	WATCHDOG_CLOSE_MS = 3000,     /* all state is saved: frees memory and closes connections */
};

/* The process must exit within `ms` from now, whatever an earlier call said. `doing` says for the log what the
 * process does meanwhile, and `status` is the exit status. `doing` is borrowed for good. For one thread at a time. */
void watchdog_set(int ms, const char *doing, int status);

#endif
