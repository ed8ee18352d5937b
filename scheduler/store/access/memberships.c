/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/memberships.h"

#include "scheduler/store/access/invitations.h"
#include "scheduler/store/access/memberships.sql.h"
#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/response_scope.h"

/* ---- reading ---- */

int memberships_list(struct store *store, const struct membership_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, memberships_list, .organization_id = list->organization_id,
		.search = list->search, .emails = list->emails, .status = list->status, .limit = list->limit,
		.offset = list->offset, .user = response_scope_user(store->scope));
}

int memberships_of_user(
	struct store *store, const char *user_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, memberships_of_user, .user_id = user_id, .limit = range.limit,
		.offset = range.offset, .user = response_scope_user(store->scope));
}

int memberships_of_team(struct store *store, const char *team_id, const char *status, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, memberships_of_team, .team_id = team_id, .status = status,
		.limit = range.limit, .offset = range.offset, .user = response_scope_user(store->scope));
}

int memberships_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(
		store->db, ret_rows, err, memberships_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int membership_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, membership_read, .id = id, .user = response_scope_user(store->scope)) <
		0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization membership not found");
}

int membership_guarded(
	struct store *store, const char *organization_id, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, membership_guarded, .organization_id = organization_id,
		.user_id = user_id,
		.everywhere = response_scope_all(store->scope, organization_id, CAN_SEE_SECRET_TEAMS),
		.user = response_scope_user(store->scope));
}

/* ---- inviting ---- */

struct inviting {
	struct store *store;
	const struct invitation *invitation;
	struct id id;
};

static int email_taken(struct err *err)
{
	return err_at(err, "/data/attributes/email", "Email belongs to a member of the organization");
}

/* Checks members of this organization only: the result does not reveal whether the address is registered elsewhere. */
static int member_check(const struct inviting *i, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(i->store->db, &rows, err, member_of_email, .organization_id = i->invitation->organization_id,
		    .email = i->invitation->email) < 0)
		return -1;
	return rows.count ? email_taken(err) : 0;
}

/* Finds or creates the nameless user of the address, and deletes an expired invitation of theirs. */
static int invited_user(const struct inviting *i, struct rows *ret_user, struct err *err)
{
	struct db *db = i->store->db;

	if (db_query(db, ret_user, err, invited_user_ensure, .new_id = id_new("user").text,
		    .email = i->invitation->email) < 0)
		return -1;
	return db_query(db, NULL, err, invitation_expired_delete, .organization_id = i->invitation->organization_id,
		.id = row_of(invited_user_ensure, ret_user, 0)->id);
}

static int invited_teams(struct inviting *i, const char *user_id, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct invitation *invitation = i->invitation;

	db_array_add_texts(&ids, invitation->team_ids);
	if (db_query(i->store->db, &rows, err, invited_teams_join, .ids = &ids,
		    .organization_id = invitation->organization_id, .user_id = user_id,
		    .user = response_scope_user(i->store->scope)) < 0)
		return -1;
	if ((size_t)row_of(invited_teams_join, &rows, 0)->joined < json_array_size(invitation->team_ids))
		return err_at(err, "/data/relationships/teams",
			"Teams must be teams of the organization that follow no SCIM group");
	return 0;
}

static int invite_in(void *data, struct err *err)
{
	struct inviting *i = data;
	_cleanup_(rows_release) struct rows user = ROWS_INIT;
	const char *user_id;

	if (member_check(i, err) < 0 || invited_user(i, &user, err) < 0)
		return -1;
	user_id = row_of(invited_user_ensure, &user, 0)->id;
	i->id = id_new("ou");
	if (db_query(i->store->db, NULL, err, membership_insert, .id = i->id.text,
		    .organization_id = i->invitation->organization_id, .user_id = user_id,
		    .email = i->invitation->email) < 0)
		return err->kind == ERR_CONFLICT ? email_taken(err) : -1;
	if (invitation_mail_queue(i->store, i->id.text, err) < 0)
		return -1;
	return i->invitation->team_ids ? invited_teams(i, user_id, err) : 0;
}

int membership_create(struct store *store, const struct invitation *invitation, struct id *ret_id, struct err *err)
{
	struct inviting i = {.store = store, .invitation = invitation};

	if (db_transaction(store->db, invite_in, &i, err) < 0)
		return -1;
	*ret_id = i.id;
	return 0;
}

/* ---- leaving ---- */

struct leaving {
	struct store *store;
	const char *id;
};

static int leave_in(void *data, struct err *err)
{
	const struct leaving *l = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct membership_delete_row *left;

	if (db_query(l->store->db, NULL, err, membership_owners_lock, .id = l->id) < 0 ||
		db_query(l->store->db, &rows, err, membership_delete, .id = l->id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "organization membership not found");
	left = row_of(membership_delete, &rows, 0);
	if (owners_check(l->store, left->organization_id, err) < 0)
		return -1;
	return invited_users_delete(l->store, left->user_id, err);
}

/* The next change of the group would make the person a member again. */
static int followed_check(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, membership_followed, .id = id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"The member is in a team by the SCIM group %s: remove them from the group at the identity provider",
		row_of(membership_followed, &rows, 0)->group_name);
}

int membership_delete(struct store *store, const char *id, struct err *err)
{
	struct leaving l = {store, id};

	if (followed_check(store, id, err) < 0)
		return -1;
	return db_transaction(store->db, leave_in, &l, err);
}
