/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_WATCHDOG_H
#define COMMON_LOOP_WATCHDOG_H

/*
 * Bounds how long a process takes to end. Libraries wait for servers when they are closed: librdkafka, for example,
 * never ends some threads after a topic was deleted. A process that is to end says how long the rest may take. If it
 * has not ended by then, a thread logs what it was doing and ends it by _exit.
 */

enum {
	WATCHDOG_REQUESTS_MS = 10000, /* requests under way; a client that gets no answer asks again */
	WATCHDOG_CLOSE_MS = 3000, /* all that lasts is done: what is left is to free memory and to close connections */
};

/* From now on the process has `ms` to end, whatever an earlier call said. `doing` is what it does meanwhile, for the
 * log, and `status` the exit status; `doing` is borrowed for good. For one thread at a time. */
void watchdog_set(int ms, const char *doing, int status);

#endif
