/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/commit_contents.h"

int content_stored(struct store *store, const struct stored_content *content, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_contents set state = 'stored', blob_id = $2, hash = $3, "
		"first_hash = coalesce(first_hash, $3), size = $4, error = null, stored_at = now() where id = $1",
		P_TEXT(content->content_id), P_TEXT(content->blob_id), P_TEXT(content->hash), P_INT(content->size));
}

int content_failed(struct store *store, const char *content_id, const char *sentence, struct err *err)
{
	return db_query(store->db, NULL, err, "update vcs_contents set state = 'errored', error = $2 where id = $1",
		P_TEXT(content_id), P_TEXT(sentence));
}
