/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/server.h"

#include "common/err.h"
#include "scheduler/saml/metadata.h"

void server_freep(LassoServer **server)
{
	if (*server)
		g_object_unref(*server);
}

int server_make(const struct parties *parties, const char *entity_id, LassoServer **ret_server, struct err *err)
{
	_cleanup_(buf_release) struct buf own = METADATA_INIT, provider = METADATA_INIT;
	const char *given = text_or_null(parties->own.private_key),
		   *key = given && private_key_valid(given) ? given : NULL;
	LassoServer *server;
	int code;

	if (metadata_write_own(&parties->own, &own) < 0 ||
		metadata_write_provider(&parties->provider, entity_id, &provider, err) < 0)
		return err->kind ? -1 : err_set(err, ERR_INTERNAL, "the settings are too large");
	server = lasso_server_new_from_buffers(buf_str(&own), key, NULL, NULL);
	if (!server)
		return err_set(err, ERR_INTERNAL, "Lasso does not accept this server's settings");
	if (key)
		lasso_server_set_encryption_private_key(server, key);
	code = lasso_server_add_provider_from_buffer(server, LASSO_PROVIDER_ROLE_IDP, buf_str(&provider), NULL, NULL);
	if (code) {
		g_object_unref(server);
		return err_set(err, ERR_INTERNAL, "Lasso does not accept the identity provider's settings (%s)",
			lasso_strerror(code));
	}
	*ret_server = server;
	return 0;
}
