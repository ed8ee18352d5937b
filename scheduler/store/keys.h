/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_KEYS_H
#define SCHEDULER_STORE_KEYS_H

/*
 * The keys that the database's rows are sealed with, and the handling of rows whose key a scheduler lacks.
 *
 * During a key rotation, schedulers briefly have different keys. A scheduler hands out only jobs whose secrets it can
 * open. It leaves other jobs to schedulers that have the key.
 */

#include "scheduler/store/store.h"

/* Compares each key of the keyring with the database's record of that number, and records new keys. ERR_INVALID if a
 * key differs, or if the keyring lacks a key that is in use. A key without a record is verified against the oldest rows
 * that are sealed with its number. */
int keys_check(struct store *store, struct err *err);
/* The same, but changes nothing: a new key is not recorded. */
int keys_verify(struct store *store, struct err *err);
/* Records that the first key seals and signs now. */
int keys_use(struct store *store, struct err *err);

/* The numbers of the keyring's keys in the form that sealed columns use, for the fragments of keys.sql. */
void keys_numbers(const struct store *store, struct db_bytes *ret_numbers);

/* Reports jobs that have waited for half a minute because of a missing key, although their pools have free slots. It
 * writes a log line, a metric, and one event per run and key. */
int keys_report_waiting(struct store *store, struct err *err);

#endif
