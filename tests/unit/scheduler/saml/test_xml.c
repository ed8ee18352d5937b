/* SPDX-License-Identifier: MPL-2.0 */
/* What is checked before Lasso reads a document: bytes, times. The shape is tested by tests/integration/identity. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "scheduler/saml/wire.h"
#include "scheduler/saml/xml/instant.h"
#include "scheduler/saml/xml/scan.h"
#include "scheduler/saml/xml/tree.h"

static bool scanned(const char *text, enum scan_kind kind)
{
	struct err err = ERR_INIT;
	bool accepted = xml_scan(text_bytes(text), kind, &err) == 0;

	assert_true(accepted || (err.kind == ERR_INVALID && err.message[0]));
	return accepted;
}

static void test_documents(void **state)
{
	static const char *const accepted[] = {"<a/>", "\xef\xbb\xbf<a/>", "<?xml version=\"1.0\"?><a/>",
		"<?xml version='1.0' encoding='utf-8'?>\n<a b=\"&lt;>\" c='\"'>&amp;</a>", "<a>"};
	static const char *const refused[] = {"", "a", " <a/>", "<!DOCTYPE a><a/>", "<a><!DOCTYPE b></a>",
		"<!ENTITY e 'x'><a/>", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>",
		"<?xml version=\"1.0\" encoding=\"UTF-7\"?><a/>", "<?xml version=\"1.0\" encoding = 'UTF-8x'?><a/>",
		"<?xml version=\"1.0\"", "<a><?p q?></a>", "<a><![CDATA[x]]></a>", "<a b=\"x>", "<a>\xff</a>",
		"<a>\xc0\xbc</a>"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++)
		assert_true(scanned(accepted[i], SCAN_MESSAGE));
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		assert_false(scanned(refused[i], SCAN_MESSAGE));
		assert_false(scanned(refused[i], SCAN_METADATA));
	}
}

static void test_comments(void **state)
{
	(void)state;
	assert_false(scanned("<a>x<!-- -->y</a>", SCAN_MESSAGE));
	assert_true(scanned("<!-- < ! --><a>x<!-- <!DOCTYPE b> -->y</a>", SCAN_METADATA));
	assert_false(scanned("<a><!-- </a>", SCAN_METADATA));
}

/* The document <a>, then `item` so many times. */
static bool many_scanned(const char *begin, const char *item, size_t count)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SIZE_MAX / 2);

	buf_text(&text, begin);
	while (count--)
		buf_text(&text, item);
	buf_text(&text, ">");
	return scanned(buf_str(&text), SCAN_MESSAGE);
}

static void test_bounds(void **state)
{
	(void)state;
	assert_true(many_scanned("<a", " b=''", 64));
	assert_false(many_scanned("<a", " b=''", 65));
	assert_true(many_scanned("<a>", "<b/>", 19999));
	assert_false(many_scanned("<a>", "<b/>", 20000));
	assert_true(many_scanned("<a>", " ", SAML_DOCUMENT_MAX - 4));
	assert_false(many_scanned("<a>", " ", SAML_DOCUMENT_MAX - 3));
}

static void test_times(void **state)
{
	static const char *const wrong[] = {"", "2026-11-27", "2026-11-27T12:00:00", "2026-11-27T12:00:00+01:00",
		"2026-11-27T12:00:00.Z", "2026-11-27T12:00:00Zx", " 2026-11-27T12:00:00Z", "+026-11-27T12:00:00Z",
		"2026-02-30T12:00:00Z", "2026-11-27T25:00:00Z", "20261-11-27T12:00:00Z"};
	char text[INSTANT_SIZE];
	long long seconds = 0;

	(void)state;
	assert_int_equal(instant_parse("2026-11-27T12:00:01Z", &seconds), 0);
	assert_int_equal(seconds, 1795780801);
	instant_text(seconds, text);
	assert_string_equal(text, "2026-11-27T12:00:01Z");
	assert_int_equal(instant_parse("2026-11-27T12:00:01.999999Z", &seconds), 0);
	assert_int_equal(seconds, 1795780801);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(instant_parse(wrong[i], &seconds), -1);
}

static void test_texts_are_whole(void **state)
{
	static const char text[] = "<a><!-- x --><b id='1'> ad<!-- y -->min&amp;<c>x</c> </b><b xmlns='urn:x'/></a>";
	_cleanup_(doc_freep) xmlDoc *doc = NULL;
	_cleanup_(freep) char *content = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(tree_parse(text_bytes(text), SCAN_METADATA, &doc, &err), 0);
	content = tree_text(xmlDocGetRootElement(doc));
	assert_string_equal(content, "admin&x");
	assert_int_equal(tree_count(xmlDocGetRootElement(doc), "urn:x", "b"), 1);
	assert_null(tree_child(xmlDocGetRootElement(doc), "urn:y", "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_texts_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
