/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/identities.h"

#include <string.h>

#include "scheduler/auth/identity/groups.h"
#include "scheduler/auth/identity/identities.sql.h"
#include "scheduler/store/access/scim/scim_users.h"
#include "scheduler/store/access/scim/scim_users.sql.h"
#include "scheduler/store/names.h"

enum { MAX_SUBJECT = 1024 };

struct signing_in {
	struct store *store;
	const struct external_person *person;
	struct identity_account account;
};

static int suspended(struct err *err)
{
	return err_set(err, ERR_FORBIDDEN, "Your account is suspended. Ask a site administrator.");
}

/* ---- new accounts ---- */

/* Finds the account that SCIM made for the person, if it has no identity yet. */
static int account_claim(struct signing_in *s, bool *ret_found, struct err *err)
{
	const struct external_person *person = s->person;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct scim_user_unclaimed_row *row;

	if (!text_or_null(person->provisioned_as))
		return 0;
	if (scim_user_unclaimed(s->store, person->provisioned_as, person->provider_id, &rows, err) < 0)
		return -1;
	*ret_found = rows.count > 0;
	if (!rows.count)
		return 0;
	row = row_of(scim_user_unclaimed, &rows, 0);
	if (row->is_suspended)
		return suspended(err);
	text_copy(s->account.user.text, ID_SIZE, row->user_id);
	text_copy(s->account.username, sizeof(s->account.username), row->username);
	return db_query(s->store->db, NULL, err, identity_insert, .issuer = person->issuer, .subject = person->subject,
		.user_id = row->user_id, .provider_id = person->provider_id);
}

static int account_create(struct signing_in *s, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct external_person *person = s->person;
	char name[USERNAME_SIZE];

	username_make(text_or_null(person->username) ? person->username : text_or_empty(person->email), name);
	if (db_query(s->store->db, &rows, err, username_free, .name = name) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_FORBIDDEN, "No user name is free for you. Ask a site administrator.");
	s->account.is_new = true;
	text_copy(s->account.username, sizeof(s->account.username), row_of(username_free, &rows, 0)->username);
	s->account.user = id_new("user");
	/* A confirmed address shows the invitations that were sent to it (store/access/invitations.h). */
	if (db_query(s->store->db, NULL, err, identity_user_create, .id = s->account.user.text,
		    .username = s->account.username, .email = text_or_null(person->email),
		    .email_confirmed = person->email_verified) < 0)
		return -1;
	return db_query(s->store->db, NULL, err, identity_insert, .issuer = person->issuer, .subject = person->subject,
		.user_id = s->account.user.text, .provider_id = person->provider_id);
}

/* ---- signing in ---- */

static int account_find(struct signing_in *s, bool *ret_found, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct identity_use_row *row;

	if (db_query(s->store->db, &rows, err, identity_use, .issuer = s->person->issuer, .subject = s->person->subject,
		    .provider_id = s->person->provider_id) < 0)
		return -1;
	*ret_found = rows.count > 0;
	if (!rows.count)
		return 0;
	row = row_of(identity_use, &rows, 0);
	text_copy(s->account.user.text, ID_SIZE, row->user_id);
	text_copy(s->account.username, sizeof(s->account.username), row->username);
	if (row->is_suspended)
		return suspended(err);
	return 0;
}

/* Applies what the provider said of the person's teams and of site administration, which counts for nobody whom SCIM
 * maintains. */
static int claims_apply(struct signing_in *s, struct err *err)
{
	const struct external_person *person = s->person;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *user = s->account.user.text;

	if (!person->groups && person->site_admin < 0)
		return 0;
	if (db_query(s->store->db, &rows, err, scim_user_maintained, .user_id = user) < 0)
		return -1;
	if (rows.count)
		return 0;
	if (person->groups && groups_apply(s->store, person, user, err) < 0)
		return -1;
	if (person->site_admin < 0)
		return 0;
	return db_query(
		s->store->db, NULL, err, identity_site_admin, .user_id = user, .wanted = person->site_admin > 0);
}

static int sign_in_in(void *data, struct err *err)
{
	struct signing_in *s = data;
	const struct external_person *person = s->person;
	struct db *db = s->store->db;
	bool found = false;

	s->account = (struct identity_account){.is_new = false};
	if (db_query(db, NULL, err, identity_lock, .issuer = person->issuer, .subject = person->subject) < 0 ||
		account_find(s, &found, err) < 0 || (!found && account_claim(s, &found, err) < 0) ||
		(!found && account_create(s, err) < 0))
		return -1;
	return claims_apply(s, err);
}

static int subject_check(const struct external_person *person, struct err *err)
{
	if (!*text_or_empty(person->subject) || strlen(person->subject) > MAX_SUBJECT)
		return err_set(err, ERR_FORBIDDEN,
			"The identity provider named no account, or one with more than %d characters.", MAX_SUBJECT);
	return 0;
}

int identity_sign_in(struct store *store, const struct external_person *person, struct identity_account *ret_account,
	struct err *err)
{
	struct signing_in s = {.store = store, .person = person};

	if (subject_check(person, err) < 0 || db_transaction(store->db, sign_in_in, &s, err) < 0)
		return -1;
	*ret_account = s.account;
	return 0;
}

/* ---- linking ---- */

struct linking {
	struct store *store;
	const struct external_person *person;
	const char *user_id;
};

static int link_in(void *data, struct err *err)
{
	const struct linking *l = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct db *db = l->store->db;

	if (db_query(db, NULL, err, identity_lock, .issuer = l->person->issuer, .subject = l->person->subject) < 0 ||
		db_query(db, &rows, err, identity_owner, .issuer = l->person->issuer, .subject = l->person->subject) <
			0)
		return -1;
	if (rows.count && !text_equal(row_of(identity_owner, &rows, 0)->user_id, l->user_id))
		return err_set(err, ERR_INVALID,
			"That account at the identity provider belongs to another user here. Ask a site "
			"administrator.");
	return db_query(db, NULL, err, identity_insert, .issuer = l->person->issuer, .subject = l->person->subject,
		.user_id = l->user_id, .provider_id = l->person->provider_id);
}

int identity_link(struct store *store, const struct external_person *person, const char *user_id, struct err *err)
{
	struct linking l = {store, person, user_id};

	return subject_check(person, err) < 0 ? -1 : db_transaction(store->db, link_in, &l, err);
}

int identities_of_user(struct store *store, const char *user_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, identities_of_user, .user_id = user_id);
}

int identity_unlink(struct store *store, const char *user_id, const char *provider_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, identity_other_way, .user_id = user_id, .provider_id = provider_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_INVALID, "You could not sign in any more: set a password first.");
	return db_query(store->db, NULL, err, identity_delete, .user_id = user_id, .provider_id = provider_id);
}
