/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_PLANS_CHANGE_ROW_H
#define SCHEDULER_RUNS_PLANS_CHANGE_ROW_H

/* One change of a plan: its row in the summary, and its redacted values. Wrong types count as absent. */

#include "scheduler/runs/plans/change_redact.h"

/* Bytes of a name or a message, and names of changed attributes in a row. */
enum { MAX_CHANGE_NAME = 1024, MAX_CHANGED_NAMES = 40 };

struct change_row {
	/* Set by the caller. Borrowed. */
	struct secret_texts *secrets;
	const json_t *deferred_reason;
	const char *list; /* the name of its list in the summary */
	long long index;
	bool relevant;   /* of drift: a change of the plan depends on it */
	bool unreadable; /* too large, or not valid JSON: without its values */
	/* Set by change_row_read. */
	const json_t *source, *change; /* borrowed */
	char action[48];               /* terraform's actions, joined: "delete,create" */
	bool is_import, is_move;
	struct change_shown shown;
	json_t *changed; /* names of changed attributes, if there are values on both sides */
	long long changed_count;
};

/* Reads a resource change, or {"name", "change"} of an output. Borrows it until change_row_release. */
void change_row_read(struct change_row *row, const json_t *source);
void change_row_release(struct change_row *row);
/* True for a change that changes nothing: no action, import or move. */
bool change_row_is_hidden(const struct change_row *row);
/* The row of the summary, and the attributes of the change. New references. */
json_t *change_row_show(const struct change_row *row);
json_t *change_row_values(const struct change_row *row);

/* The string, cut to a bounded length, without secrets; null for anything else. A new reference. */
json_t *change_text(const json_t *text, struct secret_texts *secrets);

#endif
