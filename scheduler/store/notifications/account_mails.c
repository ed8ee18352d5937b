/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/account_mails.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/notifications/account_mails.sql.h"

#define CODE_CONTEXT "password-reset"

enum { MAIL_LIMIT = 16 << 10 };

int account_mail_queue(struct store *store, const struct account_mail *mail, struct err *err)
{
	return db_query(store->db, NULL, err, account_mail_insert, .new_id = id_new("ntf").text, .kind = mail->kind,
		.recipient_id = mail->recipient_id, .reset_id = mail->reset_id, .subject_id = mail->subject_id,
		.notification_seconds = store->settings->notification_seconds);
}

int account_mail_to_admins(struct store *store, const char *kind, const char *subject_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct account_mail mail = {.kind = kind, .subject_id = subject_id};

	if (db_query(store->db, &rows, err, account_mail_admins) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		mail.recipient_id = row_of(account_mail_admins, &rows, i)->id;
		if (account_mail_queue(store, &mail, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the text ---- */

const char *account_mail_subject(const char *kind)
{
	if (text_equal(kind, MAIL_BREAK_GLASS))
		return "An emergency account has signed in to Runyard";
	return "Your password of Runyard";
}

bool reset_code_open(const struct store *store, const char *code, struct id *ret_id)
{
	return code_open(store, CODE_CONTEXT, code, ret_id);
}

static void reset_text(const struct store *store, const struct account_mail_facts *facts, struct buf *text)
{
	_cleanup_(freep) char *code = code_seal(store, CODE_CONTEXT, text_or_empty(facts->reset_id));

	buf_printf(text,
		"Somebody, probably you, asked for a new password of the account %s.\n\n"
		"To set it, open this page within an hour:\n\n%s/app/login/reset?code=",
		facts->username, store->settings->public_url);
	buf_url(text, code);
	buf_text(text, "\n\nThe link works once. If you did not ask for it, ignore this mail: nothing changes.\n");
}

char *account_mail_text(const struct store *store, const struct account_mail_facts *facts)
{
	const char *url = store->settings->public_url;
	struct buf text = BUF_INIT(MAIL_LIMIT);

	if (text_equal(facts->kind, MAIL_PASSWORD_RESET))
		reset_text(store, facts, &text);
	else if (text_equal(facts->kind, MAIL_NO_PASSWORD))
		buf_printf(&text,
			"Somebody, probably you, asked for a new password of the account %s.\n\n"
			"The account has no password. Sign in through your organization's identity provider:\n\n"
			"%s/app/login\n",
			facts->username, url);
	else
		buf_printf(&text,
			"The account %s, which is for emergencies, has signed in to %s.\n\n"
			"If nobody of you did that, suspend the account and change its password.\n",
			text_or_empty(facts->subject), url);
	return buf_take(&text);
}
