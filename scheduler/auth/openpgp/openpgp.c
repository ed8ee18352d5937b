/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/openpgp/openpgp.h"

#include "common/crypto.h"
#include "scheduler/auth/helper/helper.h"
#include "scheduler/openpgp/wire.h"

const struct helper_spec openpgp_helper = {
	.program = "runyard-openpgp",
	.seconds = OPENPGP_SECONDS,
	.unavailable = "keys and signatures can't be read at the moment: try again in a minute",
	.busy = "too many keys and signatures are being read at this moment: try again in a minute",
};

int openpgp_key_read(struct helper *helper, const char *armor, struct openpgp_key *ret_key, struct err *err)
{
	json_auto_t *answer = NULL;

	if (helper_ask(helper, json_pack("{ss ss}", "do", "key", "armor", armor), &answer, err) < 0)
		return -1;
	text_copy(ret_key->id, sizeof(ret_key->id), text_or_empty(json_string_at(answer, "key_id")));
	text_copy(ret_key->fingerprint, sizeof(ret_key->fingerprint),
		text_or_empty(json_string_at(answer, "fingerprint")));
	return 0;
}

int openpgp_verify(struct helper *helper, const struct openpgp_signed *what, struct err *err)
{
	_cleanup_(freep) char *document = crypto_base64(what->document.data, what->document.len);
	_cleanup_(freep) char *signature = crypto_base64(what->signature.data, what->signature.len);
	json_auto_t *answer = NULL;

	return helper_ask(helper,
		json_pack("{ss ss ss ss}", "do", "verify", "armor", what->armor, "document", document, "signature",
			signature),
		&answer, err);
}
