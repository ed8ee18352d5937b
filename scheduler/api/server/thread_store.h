/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_THREAD_STORE_H
#define SCHEDULER_API_SERVER_THREAD_STORE_H

/* One struct store for each thread that handles requests, with a connection of its own to PostgreSQL. */

#include "scheduler/store/store.h"

struct thread_stores;

/* Stores are copies of *template and of its settings. thread_store blocks until thread_stores_open. Returns NULL and
 * fills *err if the process has no more keys for thread data. */
struct thread_stores *thread_stores_new(const struct store *template, const char *database_url, struct err *err);
/* Sets the address, which is known only after the server has started; NULL: it has not. Borrows it. The thread of
 * thread_stores_new must call it. */
void thread_stores_open(struct thread_stores *stores, const char *public_url);
/* The calling thread's store, made at the first call. It is freed when the thread ends. */
struct store *thread_store(struct thread_stores *stores);
/* Call it after all threads have ended. NULL-safe. */
void thread_stores_free(struct thread_stores *stores);

#endif
