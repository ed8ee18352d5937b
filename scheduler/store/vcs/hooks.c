/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/hooks.h"

#include <openssl/crypto.h>
#include <string.h>

#include "common/crypto.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/events/wake.h"
#include "scheduler/store/vcs/repositories.h"

enum { SECRET_LIMIT = 4 << 10, BODY_LIMIT = 32 << 20, UUID_SIZE = 36 };

static void secret_free(char *secret)
{
	if (secret)
		OPENSSL_cleanse(secret, strlen(secret));
	free(secret);
}

void vcs_hook_release(struct vcs_hook *hook)
{
	secret_free(hook->secret);
	secret_free(hook->previous);
	*hook = (struct vcs_hook)VCS_HOOK_INIT;
}

/* Whether PostgreSQL reads the text as a UUID. */
static bool uuid_valid(const char *id)
{
	size_t len = strspn(id, "0123456789abcdef-");

	if (len != UUID_SIZE || id[len])
		return false;
	for (size_t i = 0; i < UUID_SIZE; i++)
		if ((id[i] == '-') != (i == 8 || i == 13 || i == 18 || i == 23))
			return false;
	return true;
}

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is nothing at this address");
}

static int secret_open(
	struct store *store, const struct rows *rows, const char *column, char **ret_secret, struct err *err)
{
	_cleanup_(freep) char *context = mem_printf(VCS_HOOK_SEAL "%s", row_text(rows, 0, "id"));
	_cleanup_(buf_release) struct buf secret = BUF_INIT(SECRET_LIMIT);

	if (row_null(rows, 0, column))
		return 0;
	if (seal_open(store, context, (struct sealed_column){rows, 0, column}, &secret, err) < 0)
		return -1;
	*ret_secret = buf_take(&secret);
	return 0;
}

/* clang-format off */
static const char hook_sql[] =
	"select r.id, coalesce(c.provider, 'github_app') as provider, c.api_url, r.hook_secret_sealed, "
	"case when r.hook_previous_until > now() then r.hook_previous_sealed end as hook_previous_sealed "
	"from vcs_repositories r left join vcs_connections c on c.id = r.connection_id where r.hook = $1::uuid";
/* clang-format on */

int vcs_hook_read(struct store *store, const char *id, struct vcs_hook *ret_hook, struct err *err)
{
	_cleanup_(vcs_hook_release) struct vcs_hook hook = VCS_HOOK_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!uuid_valid(id))
		return not_found(err);
	if (db_query(store->db, &rows, err, hook_sql, P_TEXT(id)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	text_copy(hook.repository.text, ID_SIZE, row_text(&rows, 0, "id"));
	hook.dialect = vcs_dialect_of(vcs_provider_of(row_text(&rows, 0, "provider")), row_text(&rows, 0, "api_url"));
	if (secret_open(store, &rows, "hook_secret_sealed", &hook.secret, err) < 0 ||
		secret_open(store, &rows, "hook_previous_sealed", &hook.previous, err) < 0)
		return -1;
	*ret_hook = hook;
	hook = (struct vcs_hook)VCS_HOOK_INIT;
	return 0;
}

/* The notification is a transaction of its own: PostgreSQL commits one transaction with notifications after another, so
 * they would wait for each other's disk writes. If it is lost, the VCS thread finds the delivery at its next round. */
int vcs_delivery_add(struct store *store, const struct vcs_delivery_row *delivery, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(BODY_LIMIT);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err ignored = ERR_INIT;

	if (keyring_seal(store->keyring, delivery->id, delivery->body, &sealed) < 0)
		return err_set(err, ERR_TOO_LARGE, "the delivery is too large");
	if (db_query(store->db, &rows, err,
		    "insert into vcs_deliveries (repository_id, delivery_id, event, headers, body_sealed) "
		    "values ($1, $2, $3, '{}', $4) on conflict do nothing",
		    P_TEXT(delivery->repository_id), P_TEXT(delivery->id), P_TEXT(delivery->event),
		    P_BYTES(sealed.data, sealed.len)) < 0)
		return -1;
	if (db_affected(&rows))
		vcs_wake(store, &ignored);
	return 0;
}
