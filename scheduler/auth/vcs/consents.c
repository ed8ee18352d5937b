/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/vcs/consents.h"

#include <string.h>

#include "common/crypto.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/vcs/consents.sql.h"
#include "scheduler/store/content/seals.h"

enum { SEALED_LIMIT = 4096, MAX_STATE = 200, MAX_OPEN = 20 };

/* Followed by the digest of the state; store/key_rotation.c has it, too. */
#define VERIFIER_SEAL "vcs-verifier:"

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
	return db_query(store->db, NULL, err, consent_insert, .hash = hash, .session = session,
		.organization_id = order->organization_id, .connection_id = order->connection_id,
		.verifier_sealed = db_blob(verifier->data, verifier->len), .offset = MAX_OPEN - 1,
		.installation = order->installation);
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
	return db_query(store->db, ret_rows, err, consent_redeem, .hash = hash, .session = session,
		.connection_id = order->connection_id);
}

int consent_redeem(struct store *store, const struct consent_order *order, const char *state,
	struct consent *ret_consent, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf verifier = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *context = NULL;
	const struct consent_redeem_row *row;
	char hash[SHA256_HEX_SIZE];

	crypto_sha256_hex(state, strlen(state), hash);
	if (strlen(state) <= MAX_STATE && consent_take(store, order, hash, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_FORBIDDEN,
			"This consent was used before, is older than ten minutes, or began in another browser. Begin "
			"again.");
	row = row_of(consent_redeem, &rows, 0);
	context = mem_printf(VERIFIER_SEAL "%s", hash);
	if (seal_open(store, context, row->verifier_sealed, &verifier, err) < 0)
		return -1;
	*ret_consent = (struct consent){.state = mem_text(state),
		.verifier = buf_take(&verifier),
		.organization_name = mem_text(row->organization_name),
		.installation = row->installation};
	text_copy(ret_consent->organization_id.text, ID_SIZE, row->organization_id);
	return 0;
}

int consents_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, consents_sweep);
}
