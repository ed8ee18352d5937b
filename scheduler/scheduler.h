/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

/* The process: its parts, and how they start and stop. */

#include "common/kafka/kafka_types.h"
#include "scheduler/options.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/store.h"

struct command_line;

struct scheduler {
	struct arguments arguments; /* of the process, for options that are read again */
	struct scheduler_options options;
	struct keyring *keyring;
	struct guard *task_guard, *vcs_guard, *identity_guard, *proxies;
	struct github_app *github_app; /* NULL: none */
	struct objects *objects;
	struct store_settings settings;
	struct store store; /* the main thread's */
	bool contract;      /* migrations that contract are applied, too */
	int signals;
	/* The arguments that run `keep-lag` with the same options, and those of `keep-lag --measure`. Borrowed. */
	char **lag_command, **measure_command;
	struct publisher *publisher;
	struct claim_waiters *waiters;
	struct outbox_sink sink; /* both, for the store */
	struct event_hub *events;
	struct intakes *intakes;
	struct reaper *reaper;
	struct retention_thread *retention;
	struct audit_exporter *audit_exporter; /* NULL: no collector */
	struct listener *vcs_events, *vcs_renewals;
	struct lag_watch *lag_watch;
	struct api *api;
};

/* Blocks the signals that stop or reload the process, and opens the descriptor that reports them. */
void scheduler_signals_open(struct scheduler *s);
/* Waits until PostgreSQL answers, and migrates the database. With --migrate 0 it waits until the database is migrated.
 * ERR_UNAVAILABLE if a signal stopped the wait. */
int scheduler_database_ready(struct scheduler *s, struct err *err);
/* The settings of Kafka's clients. Borrows the options' texts. */
struct kafka_settings scheduler_kafka(const struct scheduler_options *o);
/* Starts all parts and waits for a signal. The parts are running when it returns, also after an error. */
int scheduler_serve(struct scheduler *s, const struct command_line *line, struct err *err);
/* Stops the parts that scheduler_serve started. `status` is the exit status if the watchdog ends the process. */
void scheduler_stop(struct scheduler *s, int status);

#endif
