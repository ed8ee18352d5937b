/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "common/err.h"
#include "common/http/easy.h"

static void refusal_tell(struct guarded *guarded, const char *what)
{
	snprintf(guarded->why, sizeof(guarded->why), "%s is %s, and %s", *guarded->host ? guarded->host : "the host",
		what,
		guarded->listed_only ? "no range of the allow-list has it" : "requests go to public addresses only");
}

/* The name that may permit any address. */
static const char *permitting_host(const struct guarded *guarded)
{
	return guarded->listed_only ? NULL : guarded->host;
}

static curl_socket_t socket_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct guarded *guarded = data;
	struct guard_verdict verdict = {.listed = guarded->listed};

	(void)purpose;
	if (!guarded->proxied)
		verdict = guard_judge(guarded->guard, permitting_host(guarded), &address->addr);
	if (verdict.refusal) {
		if (!guarded->let_through)
			refusal_tell(guarded, verdict.refusal);
		return CURL_SOCKET_BAD;
	}
	guarded->listed = verdict.listed;
	guarded->let_through = true;
	guarded->why[0] = '\0';
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Checks a reused connection like a new one: another entry of the allow-list may have permitted it. */
static int request_begins(void *data, char *primary_ip, char *local_ip, int primary_port, int local_port)
{
	struct guarded *guarded = data;
	const struct guard_target target = {permitting_host(guarded), primary_ip, primary_port};
	struct guard_verdict verdict = {.listed = guarded->listed};

	(void)local_ip;
	(void)local_port;
	if (!guarded->proxied)
		verdict = guard_judge_text(guarded->guard, &target);
	if (verdict.refusal) {
		refusal_tell(guarded, verdict.refusal);
		return CURL_PREREQFUNC_ABORT;
	}
	guarded->listed = verdict.listed;
	if (guarded->goes_out)
		guarded->goes_out(guarded->data);
	return CURL_PREREQFUNC_OK;
}

/* Reads the host without the brackets of IPv6, and the port. -1 if the URL can't be parsed. */
static int url_read(const char *url, struct guarded *guarded, int *ret_port)
{
	CURLU *parts = mem_check(curl_url());
	CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, 0);
	char *host = NULL, *port = NULL;
	long long number;
	size_t len;
	int result = -1;

	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_HOST, &host, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
	if (code == CURLUE_OUT_OF_MEMORY)
		mem_out();
	if (code == CURLUE_OK && strlen(host) < sizeof(guarded->host) && text_number(port, 0, 65535, &number) == 0) {
		len = strlen(host);
		if (*host == '[' && host[len - 1] == ']')
			text_copy(guarded->host, len - 1, host + 1);
		else
			text_copy(guarded->host, sizeof(guarded->host), host);
		*ret_port = (int)number;
		result = 0;
	}
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(parts);
	return result;
}

static bool scheme_fits(const char *url, const struct guarded *guarded)
{
	if (guarded->mail)
		return text_starts(url, "smtp://") || text_starts(url, "smtps://");
	return text_starts(url, "http://") || text_starts(url, "https://");
}

int guard_curl(void *easy, const char *url, struct guarded *guarded, struct err *err)
{
	struct guard_target target = {.host = guarded->host, .address = guarded->host};
	struct guard_verdict verdict;

	guarded->why[0] = '\0';
	guarded->let_through = false;
	if (!scheme_fits(url, guarded) || url_read(url, guarded, &target.port) < 0)
		return err_set(err, ERR_INVALID, "the URL is not an %s URL", guarded->mail ? "smtp" : "http or https");
	verdict = guard_judge_text(guarded->guard, &target);
	guarded->listed = verdict.listed;
	if (verdict.refusal) {
		refusal_tell(guarded, verdict.refusal);
		return err_set(err, ERR_INVALID, "%s", guarded->why);
	}
	if (guarded->listed_only && !verdict.listed)
		return err_set(err, ERR_INVALID, "%s is not on the allow-list", guarded->host);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, guarded->mail ? "smtp,smtps" : "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, guarded);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request_begins);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, guarded);
	return 0;
}
