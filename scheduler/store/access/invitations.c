/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/invitations.h"

#include <string.h>

#include "common/err.h"

/* The context that seals a code. The code's content is the membership's id. */
#define CODE_CONTEXT "invitation-code"

enum { CODE_LIMIT = 256, MAIL_LIMIT = 16 << 10 };

#define COLUMNS                                                                                                        \
	"m.id, m.organization_id, m.user_id, o.name as organization_name, coalesce(m.email, i.email) as email, "       \
	"m.created_at, m.created_at + interval '" INVITATION_DAYS " days' as expires_at "

#define TABLES                                                                                                         \
	"from organization_memberships m join organizations o on o.id = m.organization_id "                            \
	"join users i on i.id = m.user_id and i.username is null and not i.is_service_account "

/* The condition that the user of that parameter has the address of the invited user `i`. */
#define ADDRESS_IS_OF(user)                                                                                            \
	"lower(i.email) = (select lower(p.email) from users p where p.id = " user " and p.email_confirmed) "

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "invitation not found");
}

int invitations_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS TABLES "where " INVITATION_VALID "and " ADDRESS_IS_OF("$1") "order by lower(o.name)",
		P_TEXT(user_id));
}

int invitation_read(struct store *store, const struct invited *invited, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " COLUMNS TABLES "where m.id = $1 and " INVITATION_VALID
		    "and ($3::boolean or " ADDRESS_IS_OF("$2") ") for update of m",
		    P_TEXT(invited->membership_id), P_TEXT(invited->user_id), P_BOOL(invited->with_code)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

/* ---- answering ---- */

struct answering {
	struct store *store;
	const struct invited *invited;
};

int invited_users_delete(struct store *store, const char *user_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"delete from users u where id = $1 and username is null and not is_service_account "
		"and not exists (select 1 from organization_memberships m where m.user_id = u.id)",
		P_TEXT(user_id));
}

/* Moves e-mail subscriptions that the organization set up for the invited user. */
static int subscriptions_move(struct store *store, const struct rows *rows, const char *user_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"with old as (delete from notification_users n using notification_configurations c "
		"where c.id = n.configuration_id and c.organization_id = $1 and n.user_id = $2 returning "
		"n.configuration_id) "
		"insert into notification_users (configuration_id, user_id) select configuration_id, $3 from old "
		"on conflict do nothing",
		P_TEXT(row_text(rows, 0, "organization_id")), P_TEXT(row_text(rows, 0, "user_id")), P_TEXT(user_id));
}

static int member_already(struct err *err)
{
	return err_set(err, ERR_INVALID, "you are a member of the organization already");
}

/* Checks before any change, so that the caller's transaction stays usable. */
static int no_member_check(struct store *store, const char *organization_id, const char *user_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select 1 from organization_memberships where organization_id = $1 and user_id = $2",
		    P_TEXT(organization_id), P_TEXT(user_id)) < 0)
		return -1;
	return rows.count ? member_already(err) : 0;
}

static int accept_in(void *data, struct err *err)
{
	const struct answering *a = data;
	const char *person = a->invited->user_id;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (invitation_read(a->store, a->invited, &rows, err) < 0 ||
		no_member_check(a->store, row_text(&rows, 0, "organization_id"), person, err) < 0)
		return -1;
	if (db_query(a->store->db, NULL, err,
		    "update organization_memberships set user_id = $2, status = 'active', email = null where id = $1",
		    P_TEXT(a->invited->membership_id), P_TEXT(person)) < 0)
		return err->kind == ERR_CONFLICT ? member_already(err) : -1;
	if (subscriptions_move(a->store, &rows, person, err) < 0 ||
		db_query(a->store->db, NULL, err, "delete from notifications where membership_id = $1",
			P_TEXT(a->invited->membership_id)) < 0 ||
		db_query(a->store->db, NULL, err,
			"update users set email_confirmed = true where id = $1 and $2 and lower(email) = lower($3)",
			P_TEXT(person), P_BOOL(a->invited->with_code), P_TEXT(row_text(&rows, 0, "email"))) < 0)
		return -1;
	return invited_users_delete(a->store, row_text(&rows, 0, "user_id"), err);
}

int invitation_accept(struct store *store, const struct invited *invited, struct err *err)
{
	struct answering a = {store, invited};

	return db_transaction(store->db, accept_in, &a, err);
}

static int decline_in(void *data, struct err *err)
{
	const struct answering *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (invitation_read(a->store, a->invited, &rows, err) < 0 ||
		db_query(a->store->db, NULL, err, "delete from organization_memberships where id = $1",
			P_TEXT(a->invited->membership_id)) < 0)
		return -1;
	return invited_users_delete(a->store, row_text(&rows, 0, "user_id"), err);
}

int invitation_decline(struct store *store, const struct invited *invited, struct err *err)
{
	struct answering a = {store, invited};

	return db_transaction(store->db, decline_in, &a, err);
}

int invitations_sweep(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, "delete from organization_memberships m where " INVITATION_EXPIRED) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"delete from users u where username is null and not is_service_account "
		"and not exists (select 1 from organization_memberships m where m.user_id = u.id)");
}

/* ---- the mail ---- */

int invitation_mail_queue(struct store *store, const char *membership_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into notifications (id, membership_id, trigger, happened_at, give_up_at) "
		"values ($2, $1, 'invitation', now(), now() + make_interval(secs => $3))",
		P_TEXT(membership_id), P_TEXT(id_new("ntf").text), P_INT(store->settings->notification_seconds));
}

/* Any key of the keyring opens the code, so a link stays valid during a key rotation. The caller frees it. */
static char *code_make(const struct store *store, const char *membership_id)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(CODE_LIMIT);

	keyring_seal(store->keyring, CODE_CONTEXT, text_bytes(membership_id), &sealed);
	return crypto_base64(sealed.data, sealed.len);
}

bool invitation_code_valid(const struct store *store, const char *membership_id, const char *code)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(CODE_LIMIT), opened = BUF_INIT(CODE_LIMIT);
	struct err ignored = ERR_INIT;

	if (strlen(code) > CODE_LIMIT || crypto_base64_decode(code, &sealed) < 0 ||
		keyring_open(store->keyring, CODE_CONTEXT, buf_bytes(&sealed), &opened, &ignored) < 0)
		return false;
	return text_equal(buf_str(&opened), membership_id);
}

char *invitation_mail_text(const struct store *store, const struct rows *rows, int row)
{
	const char *id = row_text(rows, row, "membership_id");
	_cleanup_(freep) char *code = code_make(store, id);
	struct buf text = BUF_INIT(MAIL_LIMIT);

	buf_printf(&text,
		"The organization %s invites you to become a member.\n\n"
		"To accept or to decline, open this page and sign in:\n\n%s/app/invitations/%s?code=",
		row_text(rows, row, "invited_by"), store->settings->public_url, id);
	buf_url(&text, code);
	buf_printf(&text,
		"\n\nThe link is for you alone, and is valid until %s. If you do not expect it, ignore this mail.\n",
		row_text(rows, row, "expires_at"));
	return buf_take(&text);
}
