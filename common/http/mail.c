/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/mail.h"

#include <string.h>

#include <curl/curl.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/http/fetch.h"

/* An encoded word has at most 75 characters, and a line of base64 76. These hold 45 and 57 bytes. */
enum { MESSAGE_LIMIT = 4 << 20, WORD_BYTES = 45, LINE_BYTES = 57 };

size_t mail_recipients(const json_t *to)
{
	size_t count = 0, i;
	const json_t *address;

	json_array_foreach(to, i, address) count += mail_address_valid(json_string_value(address));
	return count;
}

static void recipients_write(struct buf *out, const json_t *to)
{
	const json_t *address;
	const char *between = "To: ";
	size_t i;

	json_array_foreach(to, i, address)
	{
		if (!mail_address_valid(json_string_value(address)))
			continue;
		buf_printf(out, "%s%s", between, json_string_value(address));
		between = ",\r\n ";
	}
	buf_text(out, "\r\n");
}

static bool plain(const char *text)
{
	size_t len = strlen(text);

	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			return false;
	return len < 60 && !strstr(text, "=?");
}

/* The length of the next encoded word. Does not split a UTF-8 character. */
static size_t word_length(const char *text)
{
	size_t len = strnlen(text, WORD_BYTES + 1);

	if (len <= WORD_BYTES)
		return len;
	for (len = WORD_BYTES; len > WORD_BYTES - 4 && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
		;
	return len;
}

static void subject_write(struct buf *out, const char *subject)
{
	buf_text(out, "Subject:");
	if (plain(subject)) {
		buf_printf(out, " %s\r\n", subject);
		return;
	}
	while (*subject) {
		size_t len = word_length(subject);
		_cleanup_(freep) char *word = crypto_base64(subject, len);

		buf_printf(out, " =?UTF-8?B?%s?=\r\n", word);
		subject += len;
	}
}

static void date_write(struct buf *out, time_t at)
{
	struct tm parts = {.tm_mday = 1};
	char text[64];

	/* The names are English: this process keeps the locale C. */
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", gmtime_r(&at, &parts));
	buf_printf(out, "Date: %s\r\n", text);
}

static void text_write(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	for (size_t at = 0; at < len; at += LINE_BYTES) {
		_cleanup_(freep) char *line = crypto_base64(text + at, len - at < LINE_BYTES ? len - at : LINE_BYTES);

		buf_printf(out, "%s\r\n", line);
	}
}

char *mail_write(const struct mail *mail)
{
	struct buf out = BUF_INIT(MESSAGE_LIMIT);

	buf_printf(&out, "From: Runyard <%s>\r\n", mail->from);
	recipients_write(&out, mail->to);
	subject_write(&out, mail->subject);
	date_write(&out, mail->at);
	buf_printf(&out, "Message-ID: <%s%s>\r\n", mail->id, strchr(mail->from, '@'));
	buf_text(&out,
		"Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\n");
	text_write(&out, mail->text);
	return buf_take(&out);
}

void mail_server_set(void *easy, const struct mail_server *server)
{
	static const long tls[] = {[MAIL_TLS_REQUIRED] = CURLUSESSL_ALL,
		[MAIL_TLS_TRIED] = CURLUSESSL_TRY,
		[MAIL_TLS_NONE] = CURLUSESSL_NONE};

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(easy, CURLOPT_URL, server->url);
	curl_easy_setopt(easy, CURLOPT_USE_SSL, tls[server->tls]);
	curl_easy_setopt(easy, CURLOPT_MAIL_FROM, server->from);
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	if (fetch_trusted())
		curl_easy_setopt(easy, CURLOPT_CAINFO, fetch_trusted());
	if (!*server->user)
		return;
	curl_easy_setopt(easy, CURLOPT_USERNAME, server->user);
	curl_easy_setopt(easy, CURLOPT_PASSWORD, server->password);
	if (*server->login)
		curl_easy_setopt(
			easy, CURLOPT_LOGIN_OPTIONS, text_equal(server->login, "login") ? "AUTH=LOGIN" : "AUTH=PLAIN");
}

struct mail_server mail_server_of(const json_t *named)
{
	bool tried = text_equal(json_string_at(named, "tls"), "tried");

	return (struct mail_server){.url = text_or_empty(json_string_at(named, "url")),
		.from = text_or_empty(json_string_at(named, "from")),
		.user = text_or_empty(json_string_at(named, "user")),
		.password = text_or_empty(json_string_at(named, "password")),
		.login = text_or_empty(json_string_at(named, "login")),
		.tls = tried ? MAIL_TLS_TRIED : MAIL_TLS_REQUIRED};
}

struct mail_source mail_source_of(char *text)
{
	return (struct mail_source){.text = text, .len = strlen(text)};
}

size_t mail_read(char *bytes, size_t size, size_t count, void *data)
{
	struct mail_source *source = data;
	size_t left = source->len - source->read, len = size * count < left ? size * count : left;

	memcpy(bytes, source->text + source->read, len);
	source->read += len;
	return len;
}
