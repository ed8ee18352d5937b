/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOOP_SERVICE_MANAGER_H
#define COMMON_LOOP_SERVICE_MANAGER_H

/*
 * Tells systemd the state of the process, by its protocol of datagrams to NOTIFY_SOCKET (sd_notify(3)). Without a
 * service manager, every call does nothing. The functions may be called from one thread only.
 */

struct loop;

/* Reads the manager's variables, and removes them from the environment so that no child uses them. Call it before any
 * thread is started. */
void service_manager_open(void);
/* The start is complete. */
void service_manager_ready(void);
/* The process has begun to stop. */
void service_manager_stopping(void);
/* Milliseconds after which service_manager_alive must be called again, half of the watchdog's time; -1: no watchdog. */
int service_manager_alive_ms(void);
/* The manager kills a process that has not called this within the watchdog's time. */
void service_manager_alive(void);
/* Calls service_manager_alive from the loop, as often as needed: the manager then notices a loop that hangs. */
void service_manager_watch(struct loop *loop);

#endif
