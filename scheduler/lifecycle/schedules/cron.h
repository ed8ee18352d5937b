/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_SCHEDULES_CRON_H
#define SCHEDULER_LIFECYCLE_SCHEDULES_CRON_H

/*
 * Cron expressions, as in cron(5): minute, hour, day of the month, month, day of the week. Fields have lists, ranges,
 * steps and English names. If both fields of days are restricted, a day matches either of them. "*" restricts
 * nothing, and neither does a field that begins with it.
 *
 * The times here are local times of no particular zone, without gaps. PostgreSQL converts them (migration 0110). Pure.
 */

#include "common/base.h"
#include "common/err.h"

enum { CRON_MAX_PER_HOUR = 12, CRON_TIME_SIZE = 32 };

struct cron {
	uint64_t minutes, hours, days, months, weekdays; /* bits; weekdays: bit 0 is Sunday */
	bool any_day, any_weekday;                       /* the field is not restricted */
};

struct cron_time {
	int year, month, day, hour, minute; /* month and day from 1 */
};

/* ERR_INVALID with a sentence that begins with "Cron". Refuses expressions that match no day of any year, or more than
 * CRON_MAX_PER_HOUR minutes of an hour. */
int cron_parse(const char *text, struct cron *ret_cron, struct err *err);
/* The first matching time after `after`, to the minute. */
struct cron_time cron_next(const struct cron *cron, const struct cron_time *after);

/* From 28 to 31. The month counts from 1. */
int cron_days_of_month(int year, int month);

/* "2026-11-28 17:00". */
void cron_time_write(const struct cron_time *time, char ret_text[CRON_TIME_SIZE]);
/* Reads the same form. False for any other text. */
bool cron_time_read(const char *text, struct cron_time *ret_time);

#endif
