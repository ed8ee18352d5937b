/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/invitations.h"

#include "scheduler/store/access/invitations.sql.h"

#include <string.h>

#include "common/err.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/site_settings.h"

/* The context that seals a code. The code's content is the membership's id. */
#define CODE_CONTEXT "invitation-code"

enum { MAIL_LIMIT = 16 << 10 };

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "invitation not found");
}

int invitations_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, invitations_of_user, .user_id = user_id);
}

int invitation_read(struct store *store, const struct invited *invited, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, invitation_read, .membership_id = invited->membership_id,
		    .user_id = invited->user_id, .with_code = invited->with_code) < 0)
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
	return db_query(store->db, NULL, err, invited_user_clean, .user_id = user_id);
}

/* Moves e-mail subscriptions that the organization set up for the invited user. */
static int subscriptions_move(
	struct store *store, const struct invitation_row *invitation, const char *user_id, struct err *err)
{
	return db_query(store->db, NULL, err, invitation_subscriptions_move,
		.organization_id = invitation->organization_id, .invited_id = invitation->user_id, .user_id = user_id);
}

static int member_already(struct err *err)
{
	return err_set(err, ERR_INVALID, "you are a member of the organization already");
}

/* Checks before any change, so that the caller's transaction stays usable. */
static int no_member_check(struct store *store, const char *organization_id, const char *user_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, membership_of_user, .organization_id = organization_id,
		    .user_id = user_id) < 0)
		return -1;
	return rows.count ? member_already(err) : 0;
}

static int accept_in(void *data, struct err *err)
{
	const struct answering *a = data;
	const char *person = a->invited->user_id;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct invitation_row *invitation;

	if (invitation_read(a->store, a->invited, &rows, err) < 0)
		return -1;
	invitation = row_of(invitation, &rows, 0);
	if (no_member_check(a->store, invitation->organization_id, person, err) < 0)
		return -1;
	if (db_query(a->store->db, NULL, err, invitation_accept, .membership_id = a->invited->membership_id,
		    .user_id = person) < 0)
		return err->kind == ERR_CONFLICT ? member_already(err) : -1;
	if (subscriptions_move(a->store, invitation, person, err) < 0 ||
		db_query(a->store->db, NULL, err, invitation_mail_delete, .membership_id = a->invited->membership_id) <
			0 ||
		db_query(a->store->db, NULL, err, invitation_email_confirm, .user_id = person,
			.with_code = a->invited->with_code, .email = invitation->email) < 0)
		return -1;
	return invited_users_delete(a->store, invitation->user_id, err);
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
		db_query(a->store->db, NULL, err, invitation_delete, .membership_id = a->invited->membership_id) < 0)
		return -1;
	return invited_users_delete(a->store, row_of(invitation, &rows, 0)->user_id, err);
}

int invitation_decline(struct store *store, const struct invited *invited, struct err *err)
{
	struct answering a = {store, invited};

	return db_transaction(store->db, decline_in, &a, err);
}

int invitations_sweep(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, invitations_expire) < 0)
		return -1;
	return db_query(store->db, NULL, err, invited_users_clean);
}

/* ---- the mail ---- */

int invitation_mail_queue(struct store *store, const char *membership_id, struct err *err)
{
	return db_query(store->db, NULL, err, invitation_mail_insert, .membership_id = membership_id,
		.new_id = id_new("ntf").text, .notification_seconds = store->settings->notification_seconds);
}

bool invitation_code_valid(const struct store *store, const char *membership_id, const char *code)
{
	struct id id;

	return code_open(store, CODE_CONTEXT, code, &id) && text_equal(id.text, membership_id);
}

char *invitation_mail_text(const struct store *store, const struct invitation_mail *mail)
{
	_cleanup_(freep) char *code = code_seal(store, CODE_CONTEXT, mail->membership_id);
	_cleanup_(freep) char *support = site_text("support-email-address");
	struct buf text = BUF_INIT(MAIL_LIMIT);

	buf_printf(&text,
		"The organization %s invites you to become a member.\n\n"
		"To accept or to decline, open this page and sign in:\n\n%s/app/invitations/%s?code=",
		mail->invited_by, store->settings->public_url, mail->membership_id);
	buf_url(&text, code);
	buf_printf(&text,
		"\n\nThe link is for you alone, and is valid until %s. If you do not expect it, ignore this mail.\n",
		mail->expires_at);
	if (*support)
		buf_printf(&text, "\nQuestions? Write to %s.\n", support);
	return buf_take(&text);
}
