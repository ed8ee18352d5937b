/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/plans/plan_summary.h"

#include <string.h>

#include "scheduler/runs/plans/change_redact.h"
#include "scheduler/runs/plans/change_row.h"

/* ---- what is collected ---- */

enum list { LIST_CHANGES, LIST_DRIFT, LIST_DEFERRED, LIST_OUTPUTS, LIST_CHECKS, LIST_COUNT };

static const char *const list_names[LIST_COUNT] = {
	[LIST_CHANGES] = "resource-changes",
	[LIST_DRIFT] = "drift",
	[LIST_DEFERRED] = "deferred",
	[LIST_OUTPUTS] = "outputs",
	[LIST_CHECKS] = "checks",
};

struct tally {
	char name[48];
	long long count;
};

struct summary {
	struct secret_texts *secrets;
	json_t *relevant; /* what changes of the plan depend on: {address: {attribute: true}}, "" for all attributes */
	struct plan_changes_draft *draft;
	struct buf lists[LIST_COUNT]; /* rows with a comma after each */
	size_t bytes;                 /* of all lists */
	long long index;              /* of the next change */
	size_t checks;
	struct tally actions[MAX_ACTIONS];  /* of LIST_CHANGES */
	struct tally statuses[MAX_ACTIONS]; /* of checks */
	bool truncated;
};

static void tally_add(struct tally *tallies, const char *name)
{
	size_t i = 0;

	while (i + 1 < MAX_ACTIONS && tallies[i].name[0] && !text_equal(tallies[i].name, name))
		i++;
	if (!tallies[i].name[0])
		text_copy(tallies[i].name, sizeof(tallies[i].name), i + 1 < MAX_ACTIONS ? name : "other");
	tallies[i].count++;
}

static json_t *tallies_show(const struct tally *tallies)
{
	json_t *shown = json_object();

	for (size_t i = 0; i < MAX_ACTIONS && tallies[i].name[0]; i++)
		json_object_set_new(shown, tallies[i].name, json_integer(tallies[i].count));
	return shown;
}

/* Takes the row. */
static void row_add(struct summary *summary, enum list list, json_t *row)
{
	_cleanup_(freep) char *text = NULL;
	size_t len;

	text = json_text_len(row, &len);
	json_decref(row);
	if (summary->bytes + len + 1 > MAX_CHANGES_SUMMARY / 2) {
		summary->truncated = true;
		return;
	}
	buf_append(&summary->lists[list], text, len);
	buf_text(&summary->lists[list], ",");
	summary->bytes += len + 1;
}

/* ---- parts of the document ---- */

enum { SMALL_PART = 64 << 10 };

static bool name_is_among(struct json_span name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_span_is(name, names[i]))
			return true;
	return false;
}

static json_t *part_parse(struct json_span part, size_t max)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL;

	return part.len <= max && json_parse(part.bytes, part.len, &value, &ignored) == 0 ? value : NULL;
}

/* The members that describe a change, of an object that can't be parsed whole: all but the values. */
static json_t *part_skim(struct json_span part, int depth)
{
	static const char *const kept[] = {"address", "previous_address", "module_address", "mode", "type", "name",
		"index", "deposed", "provider_name", "action_reason", "reason", "actions", "importing"};
	static const char *const entered[] = {"change", "resource_change"};
	struct json_span name, value;
	struct json_scan scan;
	json_t *object = json_object();

	if (json_scan_open(part, &scan) < 0 || scan.close != '}')
		return object;
	while (json_scan_next(&scan, &name, &value) > 0) {
		json_t *member = NULL;
		char key[32] = "";

		if (name_is_among(name, kept, ARRAY_LEN(kept)))
			member = part_parse(value, SMALL_PART);
		else if (depth && name_is_among(name, entered, ARRAY_LEN(entered)))
			member = part_skim(value, depth - 1);
		if (!member)
			continue;
		memcpy(key, name.bytes + 1, name.len - 2);
		json_object_set_new(object, key, member);
	}
	return object;
}

/* An item of a list of changes. Sets row->unreadable if its values are left out. A new reference. */
static json_t *item_read(struct json_span item, struct change_row *row)
{
	json_t *value = part_parse(item, MAX_CHANGE_PARSED);

	row->unreadable = !value;
	return value ? value : part_skim(item, 2);
}

/* ---- relevant drift ---- */

/* Notes that a change of the plan depends on the attribute; NULL: on the whole resource. */
static void relevant_note(json_t *relevant, const char *address, const char *attribute)
{
	json_t *names = json_object_get(relevant, address);

	if (!names && json_object_set_new_nocheck(relevant, address, names = json_object()) < 0)
		return;
	json_object_set_new_nocheck(names, text_or_empty(attribute), json_true());
}

/* False if the change has no values on one side, or more changed attributes than its row names. */
static bool names_are_all(const struct change_row *row)
{
	return row->changed_count > 0 && (long long)json_array_size(row->changed) == row->changed_count;
}

/* A change that the plan makes depends on the attributes that it changes. */
static void change_note(struct summary *summary, const struct change_row *row, const char *address)
{
	const json_t *name;
	size_t i;

	if (!address || change_row_is_hidden(row) || text_equal(row->action, "read"))
		return;
	if (!names_are_all(row))
		relevant_note(summary->relevant, address, NULL);
	json_array_foreach(row->changed, i, name) relevant_note(summary->relevant, address, json_string_value(name));
}

/* Drift is relevant if a change of the plan depends on an attribute that drifted. */
static bool drift_is_relevant(const struct summary *summary, const struct change_row *row, const char *address)
{
	const json_t *names = address ? json_object_get(summary->relevant, address) : NULL, *name;
	size_t i;

	if (!names || !names_are_all(row) || json_object_get(names, ""))
		return names != NULL;
	json_array_foreach(row->changed, i, name)
	{
		if (json_is_string(name) && json_object_get(names, json_string_value(name)))
			return true;
	}
	return false;
}

/* ---- lists of changes ---- */

/* Stores the change and its row, unless the row is to be hidden or there are too many. */
static void change_add(struct summary *summary, enum list list, struct change_row *row)
{
	_cleanup_(freep) char *text = NULL;
	json_t *change;
	size_t len;

	if (change_row_is_hidden(row))
		return;
	if (summary->index == MAX_CHANGES_COUNT) {
		summary->truncated = true;
		return;
	}
	row->index = summary->index;
	row->list = list_names[list];
	change = change_row_values(row);
	text = json_text_len(change, &len);
	json_decref(change);
	if (plan_changes_draft_add(summary->draft, text, len) < 0) {
		summary->truncated = true;
		return;
	}
	summary->index++;
	row_add(summary, list, change_row_show(row));
}

static void item_add(struct summary *summary, enum list list, struct json_span item)
{
	struct change_row row = {.secrets = summary->secrets};
	json_auto_t *value = item_read(item, &row);
	const json_t *change = list == LIST_DEFERRED ? json_object_get(value, "resource_change") : value;
	const char *address = json_string_value(json_object_get(change, "address"));

	if (list == LIST_DEFERRED)
		row.deferred_reason = json_object_get(value, "reason");
	change_row_read(&row, change);
	row.relevant = list == LIST_DRIFT && drift_is_relevant(summary, &row, address);
	if (list == LIST_CHANGES) {
		change_note(summary, &row, address);
		tally_add(summary->actions, row.action);
		if (row.is_import)
			tally_add(summary->actions, "import");
		if (row.is_move)
			tally_add(summary->actions, "move");
	}
	change_add(summary, list, &row);
	change_row_release(&row);
}

static int items_add(struct summary *summary, enum list list, struct json_span items)
{
	struct json_span name, item;
	struct json_scan scan;
	int more;

	if (!items.len || json_scan_open(items, &scan) < 0 || scan.close != ']')
		return 0;
	while ((more = json_scan_next(&scan, &name, &item)) > 0)
		item_add(summary, list, item);
	return more;
}

static int outputs_add(struct summary *summary, struct json_span outputs)
{
	struct json_span name, value;
	struct json_scan scan;
	int more;

	if (!outputs.len || json_scan_open(outputs, &scan) < 0 || scan.close != '}')
		return 0;
	while ((more = json_scan_next(&scan, &name, &value)) > 0) {
		struct change_row row = {.secrets = summary->secrets};
		json_auto_t *key = part_parse(name, SMALL_PART);
		json_auto_t *change = item_read(value, &row);
		json_auto_t *output = json_pack("{sO? sO}", "name", key, "change", change);

		change_row_read(&row, output);
		change_add(summary, LIST_OUTPUTS, &row);
		change_row_release(&row);
	}
	return more;
}

/* ---- values that are blanked somewhere ---- */

static void blanked_note(struct secret_texts *secrets, const json_t *source)
{
	struct change_row row = {.secrets = secrets};

	change_row_read(&row, source);
	change_row_release(&row);
}

/* Redacts each change of the list once, so that the strings which are blanked are noted (secret_texts_note). */
static void list_note(struct secret_texts *secrets, struct json_span list, bool is_output)
{
	struct json_span name, item;
	struct json_scan scan;

	if (!list.len || json_scan_open(list, &scan) < 0)
		return;
	while (json_scan_next(&scan, &name, &item) > 0) {
		json_auto_t *value = part_parse(item, MAX_CHANGE_PARSED);
		json_auto_t *output = is_output ? json_pack("{sO?}", "change", value) : NULL;

		blanked_note(secrets, output ? output : value);
	}
}

/* ---- checks ---- */

static json_t *problems_show(const json_t *instances, struct secret_texts *secrets)
{
	json_t *shown = json_array(), *instance, *problem;
	size_t i, k;

	json_array_foreach((json_t *)instances, i, instance)
	{
		json_array_foreach(json_object_get(instance, "problems"), k, problem)
		{
			if (json_array_size(shown) < MAX_CHANGED_NAMES)
				json_array_append_new(shown, change_text(json_object_get(problem, "message"), secrets));
		}
	}
	return shown;
}

/* terraform's statuses of checks; anything else is unknown. */
static const char *status_known(const char *status)
{
	static const char *const known[] = {"pass", "fail", "error"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (text_equal(status, known[i]))
			return known[i];
	return "unknown";
}

static void check_add(struct summary *summary, struct json_span item)
{
	json_auto_t *check = part_parse(item, MAX_CHANGE_PARSED);
	const json_t *address = json_object_get(check, "address");
	const char *status = status_known(json_string_value(json_object_get(check, "status")));
	json_t *row;

	tally_add(summary->statuses, status);
	if (text_equal(status, "pass"))
		return;
	if (++summary->checks > MAX_CHECKS) {
		summary->truncated = true;
		return;
	}
	row = json_pack("{so so ss so}", "address",
		change_text(json_object_get(address, "to_display"), summary->secrets), "kind",
		change_text(json_object_get(address, "kind"), summary->secrets), "status", status, "problems",
		problems_show(json_object_get(check, "instances"), summary->secrets));
	row_add(summary, LIST_CHECKS, row);
}

static int checks_add(struct summary *summary, struct json_span checks)
{
	struct json_span name, item;
	struct json_scan scan;
	int more;

	if (!checks.len || json_scan_open(checks, &scan) < 0 || scan.close != ']')
		return 0;
	while ((more = json_scan_next(&scan, &name, &item)) > 0)
		check_add(summary, item);
	return more;
}

/* ---- the document ---- */

struct document {
	struct json_span changes, drift, deferred, outputs, checks, relevant;
};

static int document_read(struct json_span plan, struct document *ret_document)
{
	struct document document = {.changes = {NULL, 0}};
	const struct {
		const char *name;
		struct json_span *part;
	} parts[] = {{"resource_changes", &document.changes}, {"resource_drift", &document.drift},
		{"deferred_changes", &document.deferred}, {"output_changes", &document.outputs},
		{"checks", &document.checks}, {"relevant_attributes", &document.relevant}};
	struct json_span name, value;
	struct json_scan scan;
	int more;

	if (json_scan_open(plan, &scan) < 0 || scan.close != '}')
		return -1;
	while ((more = json_scan_next(&scan, &name, &value)) > 0)
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			if (json_span_is(name, parts[i].name))
				*parts[i].part = value;
	*ret_document = document;
	return more;
}

static json_t *relevant_read(struct json_span part)
{
	json_auto_t *list = part_parse(part, MAX_CHANGE_PARSED);
	json_t *addresses = json_object(), *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *address = json_string_value(json_object_get(item, "resource"));

		if (address)
			relevant_note(addresses, address,
				json_string_value(json_array_get(json_object_get(item, "attribute"), 0)));
	}
	return addresses;
}

/* {"counts": {...}, "checks-by-status": {...}, "truncated": ..., "resource-changes": [...], ...} */
static int summary_write(struct summary *summary, struct buf *out)
{
	json_auto_t *head = json_pack("{so so sb}", "counts", tallies_show(summary->actions), "checks-by-status",
		tallies_show(summary->statuses), "truncated", summary->truncated);
	_cleanup_(freep) char *text = json_text(head);
	int result = buf_append(out, text, strlen(text) - 1);

	for (enum list list = 0; list < LIST_COUNT; list++) {
		struct buf *rows = &summary->lists[list];

		buf_cut(rows, rows->len ? rows->len - 1 : 0);
		result |= buf_printf(out, ",\"%s\":[", list_names[list]);
		result |= buf_append(out, buf_str(rows), rows->len);
		result |= buf_text(out, "]");
	}
	return result | buf_text(out, "}");
}

static int parts_add(struct summary *summary, const struct document *document)
{
	list_note(summary->secrets, document->changes, false);
	list_note(summary->secrets, document->drift, false);
	list_note(summary->secrets, document->outputs, true);
	if (items_add(summary, LIST_CHANGES, document->changes) < 0 ||
		items_add(summary, LIST_DRIFT, document->drift) < 0 ||
		items_add(summary, LIST_DEFERRED, document->deferred) < 0 ||
		outputs_add(summary, document->outputs) < 0 || checks_add(summary, document->checks) < 0)
		return -1;
	return summary_write(summary, &summary->draft->summary);
}

int plan_summarize(struct json_span plan, const json_t *secrets, struct plan_changes_draft *ret_draft, struct err *err)
{
	_cleanup_(secret_texts_freep) struct secret_texts *set = secret_texts_new(secrets);
	struct summary summary = {.secrets = set, .draft = ret_draft};
	struct document document;
	int result;

	if (document_read(plan, &document) < 0)
		return err_set(err, ERR_INVALID, "the plan's JSON is malformed");
	for (enum list list = 0; list < LIST_COUNT; list++)
		summary.lists[list] = (struct buf)BUF_INIT(MAX_CHANGES_SUMMARY);
	summary.relevant = relevant_read(document.relevant);
	result = parts_add(&summary, &document);
	json_decref(summary.relevant);
	for (enum list list = 0; list < LIST_COUNT; list++)
		buf_release(&summary.lists[list]);
	return result < 0 ? err_set(err, ERR_INVALID, "the plan's JSON is malformed") : 0;
}
