/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/watchers.h"

#include <string.h>

#include "scheduler/auth/closed.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/tokens.h"
#include "scheduler/auth/watchers.sql.h"

void watcher_init(struct watcher *watcher, const char *token, const char *cookie)
{
	*watcher = (struct watcher){.valid = false};
	if (cookie)
		session_hash(cookie, watcher->hash);
	else
		token_hash(token, watcher->hash);
}

void watcher_release(struct watcher *watcher)
{
	free(watcher->memberships);
	free(watcher->closed);
	watcher->memberships = NULL;
	watcher->closed = NULL;
	watcher->count = 0;
}

/* Takes the rows of one watcher from `row` on. Returns the row after them. */
static int watcher_take(struct watcher *watcher, const struct rows *rows, int row)
{
	const struct watchers_find_row *first = row_of(watchers_find, rows, row);
	int end = row;

	while (end < rows->count && row_of(watchers_find, rows, end)->n == first->n)
		end++;
	watcher->valid = true;
	watcher->is_site_admin = first->is_site_admin;
	text_copy(watcher->user.text, sizeof(watcher->user.text), first->user_id);
	watcher->closed = mem_text(first->closed);
	watcher->memberships = mem_new((size_t)(end - row), sizeof(*watcher->memberships));
	for (; row < end; row++) {
		const struct watchers_find_row *member = row_of(watchers_find, rows, row);
		struct watcher_membership *membership = &watcher->memberships[watcher->count];

		if (!member->organization_id)
			continue;
		text_copy(membership->organization.text, ID_SIZE, member->organization_id);
		membership->rights = (rights)member->rights;
		watcher->count++;
	}
	return end;
}

int watchers_check(struct store *store, struct watcher *const *watchers, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array hashes = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++)
		db_array_add(&hashes, watchers[i]->hash);
	if (db_query(store->db, &rows, err, watchers_find, .hashes = &hashes) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		watcher_release(watchers[i]);
		watchers[i]->valid = false;
	}
	for (int row = 0; row < rows.count;)
		row = watcher_take(watchers[row_of(watchers_find, &rows, row)->n - 1], &rows, row);
	return 0;
}

static bool is_closed(const struct watcher *watcher, const char *organization_id)
{
	struct err err = ERR_INIT;

	return closed_check(watcher->closed, organization_id, &err) < 0;
}

enum watcher_answer watcher_may(const struct watcher *watcher, enum permission permission, const struct place *place)
{
	const struct permission_row *row = &permission_rows[permission];
	rights held = 0;

	if (!watcher->valid || is_closed(watcher, text_or_empty(place->organization)))
		return WATCHER_MAY_NOT;
	if (watcher->is_site_admin)
		return WATCHER_MAY;
	for (size_t i = 0; i < watcher->count && row->bit >= 0; i++)
		if (text_equal(watcher->memberships[i].organization.text, place->organization))
			held = watcher->memberships[i].rights;
	if (held & right_of(permission))
		return WATCHER_MAY;
	return held && row->where == WORKSPACE && text_or_empty(place->workspace)[0] ? WATCHER_MAY_BY_WORKSPACE
										     : WATCHER_MAY_NOT;
}

int watcher_rights_read(struct store *store, struct watcher_rights *items, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array users = DB_ARRAY_INIT, organizations = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array workspaces = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		db_array_add(&users, items[i].user);
		db_array_add(&organizations, items[i].organization);
		db_array_add(&workspaces, items[i].workspace);
	}
	if (db_query(store->db, &rows, err, watcher_rights_read, .users = &users, .organizations = &organizations,
		    .workspaces = &workspaces) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct watcher_rights_read_row *row = row_of(watcher_rights_read, &rows, i);

		items[row->n - 1].given = (rights)row->given;
	}
	return 0;
}
