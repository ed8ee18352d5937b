/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SCHEDULES_SCHEDULES_H
#define SCHEDULER_STORE_SCHEDULES_SCHEDULES_H

/*
 * Schedules of runs. A schedule has a cron expression and a time zone, or one time. The rows are schedule_row.
 *
 * A schedule in use has its next occurrence. background/schedules/schedules.h queues the runs.
 */

#include "scheduler/lifecycle/schedules/cron.h"
#include "scheduler/store/store.h"

enum { MAX_SCHEDULES = 20, MAX_JITTER_SECONDS = 3600, MAX_SCHEDULE_NAME = 90, SHOWN_OCCURRENCES = 5 };

/* The settings of a schedule. Texts are borrowed. */
struct schedule {
	const char *name, *kind;
	const char *cron, *time_zone; /* NULL with `at` */
	const char *at;               /* RFC 3339, or NULL */
	long long jitter_seconds;
	bool auto_apply, enabled;
	const char *run_as; /* user id */
};

/* The oldest first, with `total`; a row with a null id if the page is empty. */
int schedules_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int schedule_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if the name is taken, the zone is unknown, the time has passed, cron names no day, or the workspace has
 * the maximum number. The caller has checked all else. */
int schedule_create(struct store *store, const char *workspace_id, const struct schedule *schedule, struct id *ret_id,
	struct err *err);
/* The same errors. Computes the next occurrence from now on, and forgets why the schedule was stopped. */
int schedule_update(struct store *store, const char *id, const struct schedule *schedule, struct err *err);
int schedule_delete(struct store *store, const char *id, struct err *err);

/* ERR_INVALID unless the text is the name of a time zone of the database. */
int time_zone_check(struct store *store, const char *time_zone, struct err *err);

struct schedule_row;
/* The next times of an enabled schedule, at most SHOWN_OCCURRENCES, without jitter: schedule_moments_row. */
int schedule_occurrences(
	struct store *store, const struct schedule_row *schedule, struct rows *ret_rows, struct err *err);

/* The local time of the next occurrence of cron after the local time `after`, as PostgreSQL reads and writes it.
 * ERR_INTERNAL if a stored text is not valid. */
int schedule_next_local(const char *cron, const char *after, char ret_local[CRON_TIME_SIZE], struct err *err);

#endif
