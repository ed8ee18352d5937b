/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/site/test_mail.h"

#include <time.h>

#include <curl/curl.h>

#include "common/http/easy.h"
#include "common/http/guard.h"
#include "common/http/mail.h"

enum { CONNECT_MS = 5000, TOTAL_MS = 15000 };

struct sending {
	CURL *easy;
	struct curl_slist *recipients;
	struct guarded guarded;
	struct mail_source message;
	char error[CURL_ERROR_SIZE];
};

static void sending_release(struct sending *sending)
{
	curl_slist_free_all(sending->recipients);
	curl_easy_cleanup(sending->easy);
	free(sending->message.text);
}

static void message_write(struct sending *sending, const struct store *store, const char *from, const char *recipient)
{
	_cleanup_(freep) char *text = mem_printf(
		"This mail tests the mail server of %s. You need not do anything.\n", store->settings->public_url);
	json_auto_t *to = json_pack("[s]", recipient);
	const struct mail mail = {.id = id_new("ntf").text,
		.from = from,
		.subject = "Test of the mail server",
		.to = to,
		.text = text,
		.at = time(NULL)};

	sending->message = mail_source_of(mail_write(&mail));
	sending->recipients = curl_slist_append(NULL, recipient);
}

static void options_set(struct sending *sending, const struct mail_server *server)
{
	CURL *easy = sending->easy;

	mail_server_set(easy, server);
	curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, sending->recipients);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, mail_read);
	curl_easy_setopt(easy, CURLOPT_READDATA, &sending->message);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, sending->error);
}

static int outcome(const struct sending *sending, CURLcode code, struct err *err)
{
	long status = 0;

	if (code == CURLE_OK)
		return 0;
	curl_easy_getinfo(sending->easy, CURLINFO_RESPONSE_CODE, &status);
	if (sending->guarded.why[0])
		return err_at(err, "/data/attributes/host", "The test mail was not sent: %s", sending->guarded.why);
	if (code == CURLE_LOGIN_DENIED)
		return err_set(err, ERR_UNAUTHORIZED, "The mail server refused the login");
	return err_at(err, "/data/attributes/test-email-address", "The test mail was not sent: %s%s",
		sending->error[0] ? sending->error : curl_easy_strerror(code),
		status >= 400 ? ", as the mail server says" : "");
}

int test_mail_send(const struct store *store, const json_t *named, const char *recipient, struct err *err)
{
	const struct mail_server server = mail_server_of(named);
	_cleanup_(sending_release) struct sending sending = {
		.easy = easy_new(), .guarded = {.guard = store->settings->task_guard, .mail = true}};

	message_write(&sending, store, server.from, recipient);
	options_set(&sending, &server);
	if (guard_curl(sending.easy, server.url, &sending.guarded, err) < 0)
		return outcome(&sending, CURLE_URL_MALFORMAT, err);
	return outcome(&sending, curl_easy_perform(sending.easy), err);
}
