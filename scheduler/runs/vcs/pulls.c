/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/pulls.h"

#include "scheduler/store/vcs/calls/pulls.h"
#include "scheduler/store/vcs/calls/pulls.sql.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/vcs/pull.h"

enum { MAX_PAGES = 20 };

/* One answer's pull requests while they are compared. */
struct comparison {
	struct store *store;
	const struct vcs_claimed *call;
	struct rows known; /* a row for each item */
	long long known_to;
	struct vcs_events found;
};

static void comparison_release(struct comparison *c)
{
	rows_release(&c->known);
	vcs_events_release(&c->found);
}

/* ---- one pull request ---- */

/* Takes ownership of the event's members. */
static void found_add(struct comparison *c, struct vcs_event *event)
{
	c->found.items = mem_resize(c->found.items, c->found.count + 1, sizeof(*c->found.items));
	c->found.items[c->found.count++] = *event;
	*event = (struct vcs_event)VCS_EVENT_INIT;
}

/* Stores a difference that makes no event: a new title, or a pull request that is older than the connection. */
static int pull_note(const struct comparison *c, const struct vcs_pulls_known_row *row, const struct vcs_event *event,
	struct err *err)
{
	json_auto_t *known = json_shown(row->detail), *detail = json_object();
	json_auto_t *now = vcs_event_detail(event);
	const char *head = *event->sha ? event->sha : event->short_sha;

	json_object_set_new(now, "ref", json_string(event->ref));
	if (json_is_object(known))
		json_object_update(detail, known);
	json_object_del(detail, "draft");
	json_object_update(detail, now);
	if (json_equal(known, detail))
		return 0;
	return vcs_pull_request_write(c->store,
		&(struct vcs_pull_request){.repository_id = c->call->repository_id,
			.head_sha = row->head_sha ? row->head_sha : head,
			.number = event->number,
			.is_open = true,
			.detail = detail},
		err);
}

static int pull_compare(
	struct comparison *c, const json_t *item, const struct vcs_pulls_known_row *row, struct err *err)
{
	_cleanup_(vcs_event_release) struct vcs_event event = VCS_EVENT_INIT;
	json_auto_t *detail = json_shown(row->detail);
	bool open = json_bool_at(item, "open", false);
	const struct vcs_known_pull known = {
		.head_sha = row->head_sha, .open = text_equal(row->state, "open"), .detail = detail};
	bool differs, is_older;

	if (!row->settled || !vcs_pull_read(item, &event))
		return 0;
	differs = vcs_pull_compare(&known, open, &event);
	is_older = !known.head_sha && (c->known_to < 0 || event.number <= c->known_to);
	if (!differs || is_older)
		return open ? pull_note(c, row, &event, err) : 0;
	found_add(c, &event);
	return 0;
}

static json_t *numbers_of(const json_t *items)
{
	json_t *numbers = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)items, i, item)
	{
		json_array_append_new(numbers, json_integer(json_int_at(item, "number", 0)));
	}
	return numbers;
}

/* Locks the repository first, in the same order as looks and the VCS thread. */
static int items_compare(struct store *store, const struct vcs_claimed *call, const json_t *items, struct err *err)
{
	_cleanup_(comparison_release) struct comparison c = {.store = store, .call = call, .found = VCS_EVENTS_INIT};
	const struct vcs_origin origin = {.repository_id = call->repository_id, .found_by = "poll"};
	_cleanup_(rows_release) struct rows repository = ROWS_INIT;
	json_auto_t *numbers = numbers_of(items);

	if (vcs_repository_lock(store, call->repository_id, &repository, err) < 0 ||
		vcs_pulls_known_to(store, call->repository_id, &c.known_to, err) < 0 ||
		vcs_pulls_known(store, call->repository_id, numbers, json_string_at(call->arguments, "began"), &c.known,
			err) < 0)
		return -1;
	for (int i = 0; i < c.known.count; i++)
		if (pull_compare(&c, json_array_get(items, (size_t)i), row_of(vcs_pulls_known, &c.known, i), err) < 0)
			return -1;
	if (!c.found.count)
		return 0;
	if (vcs_events_insert(store, &origin, c.found.items, c.found.count, err) < 0)
		return -1;
	return vcs_wake(store, err);
}

/* ---- steps ---- */

static json_t *kept(const struct vcs_claimed *call)
{
	return json_pack("{ss}", "began", text_or_empty(json_string_at(call->arguments, "began")));
}

static long long largest(const json_t *numbers)
{
	long long top = 0;
	json_t *number;
	size_t i;

	json_array_foreach((json_t *)numbers, i, number)
	{
		if (json_integer_value(number) > top)
			top = json_integer_value(number);
	}
	return top;
}

/* A pull request may move from one page to another while the list is read, and then be missing. So missing ones are
 * read one by one. */
static int list_end(
	struct store *store, const struct vcs_claimed *call, const json_t *seen, json_t **ret_goes_on, struct err *err)
{
	json_t *ask = NULL;

	if (vcs_pulls_read_end(store, call->repository_id, largest(seen), err) < 0 ||
		vcs_pulls_unlisted(
			store, call->repository_id, seen, json_string_at(call->arguments, "began"), &ask, err) < 0)
		return -1;
	if (json_array_size(ask)) {
		*ret_goes_on = kept(call);
		json_object_set(*ret_goes_on, "ask", ask);
	}
	json_decref(ask);
	return 0;
}

static int listed(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	const json_t *items = json_at(result, "items"), *before = json_at(call->arguments, "seen");
	json_auto_t *seen = numbers_of(items);
	long long next = json_int_at(result, "next", 0);

	if (items_compare(store, call, items, err) < 0)
		return -1;
	if (before)
		json_array_extend(seen, (json_t *)before);
	if (!next)
		return list_end(store, call, seen, ret_goes_on, err);
	if (next > MAX_PAGES)
		return 0;
	*ret_goes_on = kept(call);
	json_object_set(*ret_goes_on, "seen", seen);
	json_object_set_new(*ret_goes_on, "page", json_integer(next));
	return 0;
}

/* The arguments to read the next pull request of `ask`; NULL after the last one. */
static json_t *next_asked(const struct vcs_claimed *call)
{
	json_auto_t *ask = json_copy((json_t *)json_at(call->arguments, "ask"));
	json_t *goes_on;

	json_array_remove(ask, 0);
	if (!json_array_size(ask))
		return NULL;
	goes_on = kept(call);
	json_object_set(goes_on, "ask", ask);
	return goes_on;
}

int vcs_pulls_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	json_auto_t *one = NULL;

	if (call->operation == VCS_OP_PULLS)
		return listed(store, call, result, ret_goes_on, err);
	one = json_pack("[O]", result);
	if (items_compare(store, call, one, err) < 0)
		return -1;
	*ret_goes_on = next_asked(call);
	return 0;
}

/* The provider has deleted the pull request. Makes the event of its end from the database's row. */
static int missing_close(struct store *store, const struct vcs_claimed *call, struct err *err)
{
	_cleanup_(rows_release) struct rows known = ROWS_INIT;
	json_auto_t *numbers = json_pack("[I]", (json_int_t)json_int_at(call->arguments, "number", 0));
	json_auto_t *detail = NULL, *item = NULL, *items = NULL;

	if (vcs_pulls_known(
		    store, call->repository_id, numbers, json_string_at(call->arguments, "began"), &known, err) < 0)
		return -1;
	detail = json_shown(row_of(vcs_pulls_known, &known, 0)->detail);
	item = json_pack("{sO sO* sO* sO* sO* sO* sb}", "number", json_array_get(numbers, 0), "head",
		json_at(detail, "ref"), "base", json_at(detail, "base"), "title", json_at(detail, "title"), "url",
		json_at(detail, "url"), "sender", json_at(detail, "sender"), "open", 0);
	json_object_set_new(item, "fork", json_boolean(!text_equal(json_string_at(detail, "fork"), "no")));
	items = json_pack("[O]", item);
	return items_compare(store, call, items, err);
}

int vcs_pulls_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	if (call->operation != VCS_OP_PULL)
		return 0;
	if (verdict->missing && missing_close(store, call, err) < 0)
		return -1;
	*ret_goes_on = next_asked(call);
	return 0;
}
