/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_EXPLORER_EXPLORER_ANSWERS_H
#define SCHEDULER_API_EXPLORER_EXPLORER_ANSWERS_H

/* Answers to queries of the explorer, from addresses and from saved views. */

#include "scheduler/api/api.h"
#include "scheduler/store/explorer/explorer_query.h"

/* An export has at most this many rows: they are made in memory. A larger result is refused. */
enum { EXPLORER_MAX_EXPORT = 50000 };

/* One page of the result. */
int explorer_respond(struct request *req, struct response *res, const char *organization_id,
	struct explorer_query *query, struct err *err);
/* The whole result as CSV (RFC 4180). A cell that a spreadsheet would read as a formula begins with an apostrophe. */
int explorer_respond_csv(struct request *req, struct response *res, const char *organization_id,
	struct explorer_query *query, struct err *err);

/* Appends a cell in quotation marks. */
void explorer_cell(struct buf *csv, const char *text, bool defuse);

#endif
