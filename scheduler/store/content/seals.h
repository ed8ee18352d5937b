/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_SEALS_H
#define SCHEDULER_STORE_CONTENT_SEALS_H

/* Small values that are sealed in a column of their row. */

#include "scheduler/store/store.h"

/* Seals a text for a bytea column: pass db_blob(sealed.data, sealed.len). The context names the row. */
void seal_text(const struct store *store, const char *context, const char *text, struct buf *ret_sealed);

/* Opens a sealed column into ret_text. */
int seal_open(
	const struct store *store, const char *context, struct db_hex sealed, struct buf *ret_text, struct err *err);

/* Opens a column with a secret text; NULL if the column is null. The context of its seal is the prefix, followed by the
 * id. Free the secret with crypto_secret_freep. */
int secret_open(struct store *store, struct db_hex sealed, const char *prefix, const char *id, char **ret_secret,
	struct err *err);

/*
 * Codes of links in mails. A code is a sealed id: nothing is stored, and any key of the keyring opens it, so a link
 * stays valid during a key rotation. The context says what the link is for.
 */
/* The caller frees it. */
char *code_seal(const struct store *store, const char *context, const char *id);
/* False if the code is not one of the context. */
bool code_open(const struct store *store, const char *context, const char *code, struct id *ret_id);

#endif
