/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/notifications/notification_verify.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/http/answer.h"
#include "scheduler/store/notifications/notification_payload.h"

void notification_verification_release(struct notification_verification *verification)
{
	test_request_answer_release(&verification->answer);
	free(verification->body);
}

static void verification_send(const struct store *store, const struct notification_configuration *configuration,
	const char *token, struct test_request_answer *ret_answer)
{
	const struct notification_text text = {.public_url = store->settings->public_url,
		.configuration_id = configuration->id,
		.configuration_name = configuration->name,
		.trigger = TRIGGER_COUNT};
	_cleanup_(freep) char *body = notification_body(&text, configuration->destination_type);
	_cleanup_(freep) char *user_agent = mem_printf("TFE/1.0 (+%s; TFE)", store->settings->public_url);
	char signature[SHA512_HEX_SIZE] = "";

	if (*token)
		crypto_hmac_sha512_hex(token, strlen(token), body, strlen(body), signature);
	test_request_send(store->settings->task_guard,
		&(struct test_request){.url = configuration->url,
			.body = body,
			.signature = "X-TFE-Notification-Signature",
			.signature_value = signature,
			.user_agent = user_agent},
		ret_answer);
}

int notification_verify(const struct store *store, const struct notification_configuration *configuration,
	const char *token, struct notification_verification *v, struct err *err)
{
	bool well;

	verification_send(store, configuration, token, &v->answer);
	well = v->answer.status >= 200 && v->answer.status < 300;
	if (v->answer.status) {
		snprintf(v->code, sizeof(v->code), "%d", v->answer.status);
		v->body = answer_clean(buf_str(&v->answer.body), v->answer.body.len, NULL);
	} else {
		v->body = mem_text(v->answer.why);
	}
	v->response = (struct notification_response){.url = configuration->url,
		.code = v->code,
		.body = v->body,
		.headers = v->answer.headers,
		.successful = well};
	if (well)
		return 0;
	err_set(err, ERR_MALFORMED, "Unable to complete verification request to destination URL: %s", v->answer.why);
	text_copy(err->title, sizeof(err->title), "verification failed");
	return -1;
}
