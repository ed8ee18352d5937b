/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "notifier/delivery/delivery.h"
#include "common/http/mail.h"

/* ---- kinds ---- */

static enum fate fate(int kind, int status)
{
	const struct outcome outcome = {.status = status};

	return delivery_kinds[kind].judge(&outcome);
}

static void the_result_of_a_delivery_depends_on_kind_and_status(void **state)
{
	static const struct {
		int status;
		enum fate task, hook, mail;
	} cases[] = {
		{0, FATE_AGAIN, FATE_AGAIN, FATE_AGAIN},
		{200, FATE_TAKEN, FATE_TAKEN, FATE_TAKEN},
		{204, FATE_AGAIN, FATE_TAKEN, FATE_TAKEN},
		{250, FATE_AGAIN, FATE_TAKEN, FATE_TAKEN},
		{302, FATE_AGAIN, FATE_NEVER, FATE_AGAIN},
		{404, FATE_AGAIN, FATE_NEVER, FATE_AGAIN},
		{421, FATE_AGAIN, FATE_NEVER, FATE_AGAIN},
		{429, FATE_AGAIN, FATE_AGAIN, FATE_AGAIN},
		{500, FATE_AGAIN, FATE_AGAIN, FATE_NEVER},
		{550, FATE_AGAIN, FATE_AGAIN, FATE_NEVER},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(fate(KIND_TASK, cases[i].status), cases[i].task);
		assert_int_equal(fate(KIND_HOOK, cases[i].status), cases[i].hook);
		assert_int_equal(fate(KIND_MAIL, cases[i].status), cases[i].mail);
	}
	for (int kind = 0; kind < KINDS; kind++)
		assert_int_equal(
			delivery_kinds[kind].judge(&(struct outcome){.status = 200, .forbidden = true}), FATE_NEVER);
}

static void statuses_that_open_a_circuit(void **state)
{
	(void)state;
	assert_true(delivery_kinds[KIND_HOOK].in_trouble(503));
	assert_false(delivery_kinds[KIND_HOOK].in_trouble(404));
	assert_true(delivery_kinds[KIND_MAIL].in_trouble(421));
	assert_false(delivery_kinds[KIND_MAIL].in_trouble(550));
}

/* The kind of a claim's item with that member added. Takes `value`. */
static const struct delivery_kind *kind_of(const char *id, const char *member, json_t *value)
{
	json_auto_t *claimed = json_pack("{ss ss si}", "id", id, "body", "{}", "give-up-in-ms", 1);
	const struct delivery_kind *kind = NULL;
	struct delivery *delivery;

	json_object_set_new(claimed, member, value);
	delivery = delivery_new(claimed, 0);
	if (delivery)
		kind = delivery->kind;
	delivery_free(delivery);
	return kind;
}

static void the_kind_follows_from_id_and_members(void **state)
{
	(void)state;
	assert_ptr_equal(
		kind_of("taskrs-aaaaaaaaaaaaaaaa", "url", json_string("http://x")), &delivery_kinds[KIND_TASK]);
	assert_ptr_equal(kind_of("ntf-aaaaaaaaaaaaaaaa", "url", json_string("http://x")), &delivery_kinds[KIND_HOOK]);
	assert_ptr_equal(kind_of("ntf-aaaaaaaaaaaaaaaa", "mail", json_object()), &delivery_kinds[KIND_MAIL]);
	assert_null(kind_of("ntf-aaaaaaaaaaaaaaaa", "other", json_null()));
	assert_null(kind_of("taskrs-aaaaaaaaaaaaaaaa", "mail", json_object()));
	assert_null(kind_of("run-aaaaaaaaaaaaaaaa", "url", json_string("http://x")));
}

/* ---- mails ---- */

static char *mail_with(const char *subject, const char *text)
{
	json_auto_t *to = json_pack("[s, s, s]", "a@example.com", "not an address", "b@example.com");

	return mail_write(&(struct mail){
		.id = "ntf-1", .from = "runyard@example.org", .subject = subject, .to = to, .text = text, .at = 86400});
}

static void a_mail_has_all_headers(void **state)
{
	_cleanup_(freep) char *mail = mail_with("plain", "hello");

	(void)state;
	assert_string_equal(mail,
		"From: Runyard <runyard@example.org>\r\nTo: a@example.com,\r\n b@example.com\r\nSubject: plain\r\n"
		"Date: Fri, 02 Jan 1970 00:00:00 +0000\r\nMessage-ID: <ntf-1@example.org>\r\n"
		"Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n");
}

/* No line exceeds the limit of mails, and a subject can't add headers. */
static void texts_can_not_inject_headers_or_long_lines(void **state)
{
	struct buf text = BUF_INIT(1 << 16);
	_cleanup_(freep) char *mail = NULL;

	(void)state;
	for (int i = 0; i < 300; i++)
		buf_text(&text, "\xc3\xa9\r\n.");
	mail = mail_with("a\r\nBcc: c@example.com", buf_str(&text));
	assert_null(strstr(mail, "Bcc"));
	for (const char *line = mail; *line;) {
		size_t len = strcspn(line, "\r");

		assert_true(len <= 78);
		line += len + 2;
	}
	buf_release(&text);
}

static void long_subjects_are_split_between_characters(void **state)
{
	struct buf subject = BUF_INIT(1 << 10), decoded = BUF_INIT(1 << 10);
	_cleanup_(freep) char *mail = NULL;
	char *end;

	(void)state;
	for (int i = 0; i < 40; i++)
		buf_text(&subject, "\xe2\x82\xac");
	mail = mail_with(buf_str(&subject), "");
	for (const char *word = strstr(mail, "=?UTF-8?B?"); word; word = strstr(word + 1, "=?UTF-8?B?")) {
		_cleanup_(freep) char *base64 = mem_text(word + 10);
		size_t before = decoded.len;

		end = strstr(base64, "?=");
		*end = '\0';
		assert_int_equal(crypto_base64_decode(base64, &decoded), 0);
		assert_int_equal((decoded.len - before) % 3, 0);
	}
	assert_string_equal(buf_str(&decoded), buf_str(&subject));
	buf_release(&subject);
	buf_release(&decoded);
}

static void invalid_mail_addresses_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b>", "a@b,c@d", "a@b\r\nBcc: c", "\xc3\xa9@b"};

	(void)state;
	assert_true(mail_address_valid("first.last+tag@mail.example.com"));
	assert_false(mail_address_valid(NULL));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(mail_address_valid(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_of_a_delivery_depends_on_kind_and_status),
		cmocka_unit_test(statuses_that_open_a_circuit),
		cmocka_unit_test(the_kind_follows_from_id_and_members),
		cmocka_unit_test(a_mail_has_all_headers),
		cmocka_unit_test(texts_can_not_inject_headers_or_long_lines),
		cmocka_unit_test(long_subjects_are_split_between_characters),
		cmocka_unit_test(invalid_mail_addresses_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
