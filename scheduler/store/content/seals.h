/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_SEALS_H
#define SCHEDULER_STORE_CONTENT_SEALS_H

/* Small values that are sealed in a column of their row. */

#include "scheduler/store/store.h"

/* Seals a text for a bytea column: pass db_blob(sealed.data, sealed.len). The context names the row. */
void seal_text(struct store *store, const char *context, const char *text, struct buf *ret_sealed);

/* Opens a sealed column into ret_text. */
int hex_open(struct store *store, const char *context, struct db_hex sealed, struct buf *ret_text, struct err *err);

/* Opens a column with a secret text; NULL if the column is null. The context of its seal is the prefix, followed by the
 * id. Free the secret with crypto_secret_freep. */
int secret_open_hex(struct store *store, struct db_hex sealed, const char *prefix, const char *id, char **ret_secret,
	struct err *err);

struct sealed_column {
	const struct rows *rows;
	int row;
	const char *column;
};
/* Opens a sealed column into ret_text. */
int seal_open(
	struct store *store, const char *context, struct sealed_column sealed, struct buf *ret_text, struct err *err);

/* A column with a secret text. The context of its seal is a prefix, followed by the id. */
struct sealed_secret {
	struct sealed_column column;
	const char *prefix, *id;
};
/* Opens it; NULL if the column is null. Free the secret with crypto_secret_freep. */
int secret_open(struct store *store, const struct sealed_secret *sealed, char **ret_secret, struct err *err);

#endif
