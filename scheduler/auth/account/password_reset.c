/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/account/password_reset.h"

#include "scheduler/auth/account/password_reset.sql.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/store/notifications/account_mails.h"

static int mail_queue(struct store *store, const struct reset_users_row *user, struct err *err)
{
	const struct id id = id_new("reset");
	struct account_mail mail = {.kind = MAIL_NO_PASSWORD, .recipient_id = user->id};

	if (user->has_password) {
		if (db_query(store->db, NULL, err, reset_insert, .id = id.text, .user_id = user->id) < 0)
			return -1;
		mail.kind = MAIL_PASSWORD_RESET;
		mail.reset_id = id.text;
	}
	return account_mail_queue(store, &mail, err);
}

struct asking {
	struct store *store;
	const char *name;
};

static int ask_in(void *data, struct err *err)
{
	const struct asking *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err, reset_users, .name = a->name) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct reset_users_row *user = row_of(reset_users, &rows, i);

		if (!user->is_recent && mail_queue(a->store, user, err) < 0)
			return -1;
	}
	return 0;
}

int password_reset_ask(struct store *store, const char *name, struct err *err)
{
	struct asking asking = {store, name};

	return db_transaction(store->db, ask_in, &asking, err);
}

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "the link is unknown, was used, or is older than an hour");
}

int password_reset_read(struct store *store, const char *code, struct password_reset *ret_reset, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct password_reset reset;
	const struct reset_read_row *row;

	if (!reset_code_open(store, code, &reset.id))
		return not_found(err);
	if (db_query(store->db, &rows, err, reset_read, .id = reset.id.text) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	row = row_of(reset_read, &rows, 0);
	text_copy(reset.user.text, ID_SIZE, row->user_id);
	text_copy(reset.username, sizeof(reset.username), row->username);
	*ret_reset = reset;
	return 0;
}

struct resetting {
	struct store *store;
	const struct password_reset *reset;
	const char *password;
};

static int use_in(void *data, struct err *err)
{
	const struct resetting *r = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(r->store->db, &rows, err, reset_take, .id = r->reset->id.text) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (db_query(r->store->db, NULL, err, resets_delete, .user_id = r->reset->user.text) < 0)
		return -1;
	return password_set(r->store, r->reset->user.text, r->password, NULL, err);
}

int password_reset_use(struct store *store, const struct password_reset *reset, const char *password, struct err *err)
{
	struct resetting resetting = {store, reset, password};

	return db_transaction(store->db, use_in, &resetting, err);
}
