/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/consents.h"

#include <string.h>

#include "common/crypto.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/store/content/seals.h"

enum { SEALED_LIMIT = 4096, MAX_STATE = 200, MAX_OPEN = 20 };

/* Followed by the digest of the state; store/key_rotation.c has it, too. */
#define VERIFIER_SEAL "vcs-verifier:"
#define LIFETIME      "interval '10 minutes'"

void consent_release(struct consent *consent)
{
	crypto_secret_freep(&consent->state);
	crypto_secret_freep(&consent->verifier);
	free(consent->organization_name);
}

/* A session has at most MAX_OPEN consents: a further one replaces the oldest. */
static int consent_insert(struct store *store, const struct consent_order *order, const char *hash,
	const struct buf *verifier, struct err *err)
{
	char session[SHA256_HEX_SIZE];

	session_hash(order->cookie, session);
	return db_query(store->db, NULL, err,
		"with old as (delete from vcs_authorizations where state_hash = any(array(select state_hash from "
		"vcs_authorizations where session_hash = $2 order by created_at desc offset $6))) "
		"insert into vcs_authorizations (state_hash, session_hash, organization_id, connection_id, "
		"verifier_sealed, installation) values ($1, $2, $3, $4, $5, nullif($7::bigint, 0))",
		P_TEXT(hash), P_TEXT(session), P_TEXT(order->organization_id), P_TEXT(order->connection_id),
		P_BYTES(verifier->data, verifier->len), P_INT(MAX_OPEN - 1), P_INT(order->installation));
}

int consent_begin(struct store *store, const struct consent_order *order, struct consent *ret_consent, struct err *err)
{
	struct consent consent = {.state = crypto_token(""), .verifier = crypto_token("")};
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *context = NULL;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(consent.state, strlen(consent.state), hash);
	context = mem_printf(VERIFIER_SEAL "%s", hash);
	seal_text(store, context, consent.verifier, &sealed);
	if (consent_insert(store, order, hash, &sealed, err) < 0) {
		consent_release(&consent);
		return -1;
	}
	*ret_consent = consent;
	return 0;
}

static int consent_take(struct store *store, const struct consent_order *order, const char *hash, struct rows *ret_rows,
	struct err *err)
{
	char session[SHA256_HEX_SIZE];

	session_hash(order->cookie, session);
	return db_query(store->db, ret_rows, err,
		"with gone as (delete from vcs_authorizations where state_hash = $1 and session_hash = $2 and "
		"connection_id is not distinct from $3 returning *) "
		"select g.organization_id, o.name as organization_name, coalesce(g.installation, 0) as installation, "
		"g.verifier_sealed from gone g join organizations o on o.id = g.organization_id "
		"where g.created_at > now() - " LIFETIME,
		P_TEXT(hash), P_TEXT(session), P_TEXT(order->connection_id));
}

int consent_redeem(struct store *store, const struct consent_order *order, const char *state,
	struct consent *ret_consent, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf verifier = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *context = NULL;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(state, strlen(state), hash);
	if (strlen(state) <= MAX_STATE && consent_take(store, order, hash, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_FORBIDDEN,
			"This consent was used before, is older than ten minutes, or began in another browser. Begin "
			"again.");
	context = mem_printf(VERIFIER_SEAL "%s", hash);
	if (seal_open(store, context, (struct sealed_column){&rows, 0, "verifier_sealed"}, &verifier, err) < 0)
		return -1;
	*ret_consent = (struct consent){.state = mem_text(state),
		.verifier = buf_take(&verifier),
		.organization_name = mem_text(row_text(&rows, 0, "organization_name")),
		.installation = row_int(&rows, 0, "installation")};
	text_copy(ret_consent->organization_id.text, ID_SIZE, row_text(&rows, 0, "organization_id"));
	return 0;
}

int consents_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from vcs_authorizations where created_at < now() - " LIFETIME);
}
