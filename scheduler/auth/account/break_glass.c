/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/account/break_glass.h"

#include "scheduler/auth/account/break_glass.sql.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/notifications/account_mails.h"

int break_glass_report(struct store *store, const char *user_id, bool *ret_is_break_glass, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, break_glass_read, .user_id = user_id) < 0)
		return -1;
	*ret_is_break_glass = row_of(break_glass_read, &rows, 0)->is_break_glass;
	return *ret_is_break_glass ? account_mail_to_admins(store, MAIL_BREAK_GLASS, user_id, err) : 0;
}

int break_glass_set(struct store *store, const char *user_id, bool wanted, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, break_glass_set, .user_id = user_id, .wanted = wanted) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

struct setting {
	struct store *store;
	const char *username;
	bool wanted;
};

static int set_for_in(void *data, struct err *err)
{
	const struct setting *s = data;
	struct audit_event event = {
		.action = s->wanted ? "grant_break_glass" : "revoke_break_glass", .resource_type = "user"};
	struct id id;

	if (user_find(s->store, s->username, &id, err) < 0 || break_glass_set(s->store, id.text, s->wanted, err) < 0)
		return -1;
	event.resource_id = id.text;
	return audit_write_system(s->store, &event, err);
}

int break_glass_set_for(struct store *store, const char *username, bool wanted, struct err *err)
{
	struct setting setting = {store, username, wanted};

	return db_transaction(store->db, set_for_in, &setting, err);
}
