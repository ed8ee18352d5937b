/* SPDX-License-Identifier: MPL-2.0 */
/* Tokens of identity providers: a first line of keys (JSON), and the token. No token that is read is signed by these
 * keys. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/err.h"
#include "common/jose/jose.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char usual_keys[] =
	"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"},"
	"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
	"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *text = mem_printf("%.*s", (int)len, (const char *)bytes);
	const struct jwt_expected expected = {.issuer = "https://a", .audience = "b", .now = 1000000};
	_cleanup_(jwt_release) struct jwt jwt = JWT_INIT;
	char *token = strchr(text, '\n');
	json_auto_t *keys = NULL;
	struct err err = ERR_INIT;

	if (token)
		*token++ = '\0';
	keys = json_of(token ? text : usual_keys);
	if (jwt_read(token ? token : text, &jwt, &err) < 0)
		return 0;
	if (jwt_verify(&jwt, keys, &err) == 0 && !token)
		abort();
	jwt_check(&jwt, &expected, &err);
	return 0;
}
