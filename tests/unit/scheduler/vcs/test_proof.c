/* SPDX-License-Identifier: MPL-2.0 */
/* Proofs of deliveries: right ones, and the same with one thing wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "common/crypto.h"
#include "scheduler/vcs/proof.h"

#define SECRET "hunter22"
#define BODY   "{\"ref\": \"refs/heads/main\"}\n"
enum { NOW = 1700000000 };

/* A list of names and values that ends with NULL. */
static const char *header(const void *headers, const char *name)
{
	const char *const *list = headers;

	for (; *list; list += 2) {
		if (!strcasecmp(*list, name))
			return list[1];
	}
	return NULL;
}

static bool holds(enum vcs_dialect dialect, const char *const *headers, const char *secret)
{
	const struct vcs_delivery delivery = {dialect, header, headers, text_bytes(BODY)};

	return vcs_proof_holds(&delivery, &(struct vcs_secrets){secret, NULL}, NOW);
}

static char *hex_of(const char *secret)
{
	unsigned char digest[SHA256_SIZE];
	char *hex = mem_new(SHA256_HEX_SIZE, 1);

	crypto_hmac_bytes(secret, strlen(secret), BODY, strlen(BODY), digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return hex;
}

static void the_hmac_is_the_known_one(void **state)
{
	unsigned char digest[SHA256_SIZE];

	(void)state;
	/* RFC 4231, test case 2 */
	crypto_hmac_bytes("Jefe", 4, "what do ya want for nothing?", 28, digest);
	assert_memory_equal(digest, "\x5b\xdc\xc1\x46\xbf\x60\x75\x4e\x6a\x04\x24\x26\x08\x95\x75\xc7", 16);
}

static const struct signed_by {
	enum vcs_dialect dialect;
	const char *header, *prefix;
} signed_by[] = {
	{VCS_GITHUB, "X-Hub-Signature-256", "sha256="},
	{VCS_BITBUCKET_CLOUD, "X-Hub-Signature", "sha256="},
	{VCS_BITBUCKET_SERVER, "X-Hub-Signature", "sha256="},
	{VCS_GITEA, "X-Gitea-Signature", ""},
	{VCS_GITEA, "X-Forgejo-Signature", ""},
	{VCS_GITEA, "X-Hub-Signature-256", "sha256="},
};

static void signatures_prove_the_body(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(signed_by); i++) {
		_cleanup_(freep) char *hex = hex_of(SECRET);
		_cleanup_(freep) char *value = mem_printf("%s%s", signed_by[i].prefix, hex);
		const char *const headers[] = {signed_by[i].header, value, NULL};

		assert_true(holds(signed_by[i].dialect, headers, SECRET));
		assert_false(holds(signed_by[i].dialect, headers, "hunter23"));
		assert_false(holds(signed_by[i].dialect, headers, ""));
		assert_false(holds(signed_by[i].dialect, headers, NULL));
		for (size_t at = 0; at < strlen(value); at++) {
			value[at] ^= 1;
			assert_false(holds(signed_by[i].dialect, headers, SECRET));
			value[at] ^= 1;
		}
		value[strlen(value) - 1] = '\0';
		assert_false(holds(signed_by[i].dialect, headers, SECRET));
	}
}

static void a_signature_with_the_empty_secret_proves_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(signed_by); i++) {
		_cleanup_(freep) char *hex = hex_of("");
		_cleanup_(freep) char *value = mem_printf("%s%s", signed_by[i].prefix, hex);
		const char *const headers[] = {signed_by[i].header, value, NULL};

		assert_false(holds(signed_by[i].dialect, headers, ""));
		assert_false(holds(signed_by[i].dialect, headers, NULL));
	}
}

static void each_byte_of_the_body_counts(void **state)
{
	_cleanup_(freep) char *hex = hex_of(SECRET), *body = mem_text(BODY);
	const char *const headers[] = {"x-gitea-signature", hex, NULL};
	struct vcs_delivery delivery = {VCS_GITEA, header, headers, text_bytes(body)};
	const struct vcs_secrets secrets = {SECRET, NULL};

	(void)state;
	assert_true(vcs_proof_holds(&delivery, &secrets, NOW));
	for (size_t at = 0; at < strlen(BODY); at++) {
		body[at] ^= 1;
		assert_false(vcs_proof_holds(&delivery, &secrets, NOW));
		body[at] ^= 1;
	}
	delivery.body.len--;
	assert_false(vcs_proof_holds(&delivery, &secrets, NOW));
	delivery.body = (struct bytes){NULL, 0};
	assert_false(vcs_proof_holds(&delivery, &secrets, NOW));
}

static void a_body_may_have_any_bytes(void **state)
{
	static const char bytes[] = "a\0b\xff";
	unsigned char digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	const char *const headers[] = {"X-Gitea-Signature", hex, NULL};
	struct vcs_delivery delivery = {VCS_GITEA, header, headers, {bytes, 4}};
	const struct vcs_secrets secrets = {SECRET, NULL};

	(void)state;
	crypto_hmac_bytes(SECRET, strlen(SECRET), bytes, 4, digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_true(vcs_proof_holds(&delivery, &secrets, NOW));
	delivery.body.len = 1;
	assert_false(vcs_proof_holds(&delivery, &secrets, NOW));
}

static void the_previous_secret_holds_too(void **state)
{
	_cleanup_(freep) char *hex = hex_of("old");
	const char *const headers[] = {"X-Gitea-Signature", hex, NULL};
	const struct vcs_delivery delivery = {VCS_GITEA, header, headers, text_bytes(BODY)};

	(void)state;
	assert_true(vcs_proof_holds(&delivery, &(struct vcs_secrets){SECRET, "old"}, NOW));
	assert_true(vcs_proof_holds(&delivery, &(struct vcs_secrets){NULL, "old"}, NOW));
	assert_false(vcs_proof_holds(&delivery, &(struct vcs_secrets){SECRET, NULL}, NOW));
	assert_false(vcs_proof_holds(&delivery, &(struct vcs_secrets){NULL, NULL}, NOW));
}

static void gitea_is_not_asked_twice(void **state)
{
	_cleanup_(freep) char *hex = hex_of(SECRET);
	_cleanup_(freep) char *hub = mem_printf("sha256=%s", hex);
	const char *const headers[] = {"X-Gitea-Signature", "0000", "X-Hub-Signature-256", hub, NULL};

	(void)state;
	assert_false(holds(VCS_GITEA, headers, SECRET));
}

static void gitlab_sends_its_token(void **state)
{
	const char *const right[] = {"X-Gitlab-Token", SECRET, NULL}, *const none[] = {NULL},
			  *const wrong[] = {"X-Gitlab-Token", "hunter2", NULL},
			  *const empty[] = {"X-Gitlab-Token", "", NULL};

	(void)state;
	assert_true(holds(VCS_GITLAB, right, SECRET));
	assert_false(holds(VCS_GITLAB, wrong, SECRET));
	assert_false(holds(VCS_GITLAB, none, SECRET));
	assert_false(holds(VCS_GITLAB, empty, ""));
	assert_false(holds(VCS_GITLAB, right, ""));
}

/* The base64 of "0123456789abcdef". */
#define STANDARD_SECRET "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="

static char *standard(const char *id, const char *time)
{
	_cleanup_(freep) char *text = mem_printf("%s.%s.%s", id, time, BODY);
	unsigned char digest[SHA256_SIZE];
	_cleanup_(freep) char *base64 = NULL;

	crypto_hmac_bytes("0123456789abcdef", 16, text, strlen(text), digest);
	base64 = crypto_base64(digest, sizeof(digest));
	return mem_printf("v1,%s", base64);
}

static void gitlab_signs_with_a_time(void **state)
{
	static const struct {
		const char *id, *time;
		bool holds;
	} rows[] = {
		{"msg-1", "1700000000", true},
		{"msg-1", "1699999700", true},
		{"msg-1", "1699999699", false},
		{"msg-1", "1700000300", true},
		{"msg-1", "1700000301", false},
		{"msg-1", "x", false},
		{"msg-1", "99999999999999999999", false},
		{"msg-1", "-1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(freep) char *value = standard(rows[i].id, rows[i].time),
				      *two = mem_printf("v1,AAAA %s", value);
		const char *const headers[] = {
			"webhook-id", rows[i].id, "webhook-timestamp", rows[i].time, "webhook-signature", value, NULL};
		const char *const several[] = {
			"webhook-id", rows[i].id, "webhook-timestamp", rows[i].time, "webhook-signature", two, NULL};

		assert_true(holds(VCS_GITLAB, headers, STANDARD_SECRET) == rows[i].holds);
		assert_true(holds(VCS_GITLAB, several, STANDARD_SECRET) == rows[i].holds);
	}
}

static void a_signature_of_gitlab_covers_id_and_time(void **state)
{
	_cleanup_(freep) char *value = standard("msg-1", "1700000000");
	const char *const other_id[] = {"webhook-id", "msg-2", "webhook-timestamp", "1700000000", "webhook-signature",
		value, NULL},
			  *const other_time[] = {"webhook-id", "msg-1", "webhook-timestamp", "1700000001",
				  "webhook-signature", value, NULL},
			  *const no_id[] = {"webhook-timestamp", "1700000000", "webhook-signature", value, NULL},
			  *const no_version[] = {"webhook-id", "msg-1", "webhook-timestamp", "1700000000",
				  "webhook-signature", value + 3, NULL},
			  *const right[] = {"webhook-id", "msg-1", "webhook-timestamp", "1700000000",
				  "webhook-signature", value, NULL},
			  *const token[] = {"X-Gitlab-Token", STANDARD_SECRET, NULL},
			  *const both[] = {"X-Gitlab-Token", STANDARD_SECRET, "webhook-signature", "v1,AAAA", NULL};

	(void)state;
	assert_true(holds(VCS_GITLAB, right, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, other_id, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, other_time, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, no_id, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, no_version, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, right, "whsec_"));
	assert_false(holds(VCS_GITLAB, right, "whsec_!"));
	assert_true(holds(VCS_GITLAB, token, STANDARD_SECRET));
	assert_false(holds(VCS_GITLAB, both, STANDARD_SECRET));
}

static char *basic(const char *text)
{
	_cleanup_(freep) char *base64 = crypto_base64(text, strlen(text));

	return mem_printf("Basic %s", base64);
}

static void azure_sends_a_password_or_a_header(void **state)
{
	_cleanup_(freep) char *right = basic("any:" SECRET), *wrong = basic("any:x"), *bare = basic(SECRET);
	const char *const headers[][3] = {{"Authorization", right}, {"Authorization", wrong}, {"Authorization", bare},
		{"Authorization", "Basic !"}, {"Authorization", "Bearer " SECRET}, {"X-Runyard-Secret", SECRET},
		{"X-Runyard-Secret", "x"}, {NULL}};
	static const bool expected[] = {true, false, false, false, false, true, false, false};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		assert_true(holds(VCS_AZURE, headers[i], SECRET) == expected[i]);
		assert_false(holds(VCS_AZURE, headers[i], ""));
	}
}

static void plain_git_has_no_proof(void **state)
{
	const char *const headers[] = {"X-Gitlab-Token", SECRET, NULL};

	(void)state;
	assert_false(holds(VCS_GIT, headers, SECRET));
}

static void deliveries_have_names(void **state)
{
	static const struct {
		enum vcs_dialect dialect;
		const char *headers[7];
		const char *id, *event;
	} rows[] = {
		{VCS_GITHUB, {"X-GitHub-Event", "push", "X-GitHub-Delivery", "d-1"}, "d-1", "push"},
		{VCS_GITLAB, {"X-Gitlab-Event", "Push Hook", "X-Gitlab-Event-UUID", "d-2", "Idempotency-Key", "d-1"},
			"d-1", "Push Hook"},
		{VCS_GITLAB, {"X-Gitlab-Event", "Push Hook", "X-Gitlab-Event-UUID", "d-2"}, "d-2", "Push Hook"},
		{VCS_BITBUCKET_CLOUD, {"X-Event-Key", "repo:push", "X-Request-UUID", "d-1"}, "d-1", "repo:push"},
		{VCS_BITBUCKET_SERVER, {"X-Event-Key", "pr:opened", "X-Request-Id", "d-1"}, "d-1", "pr:opened"},
		{VCS_GITEA, {"X-Gitea-Event", "push", "X-Gitea-Delivery", "d-1"}, "d-1", "push"},
		{VCS_GITEA, {"X-Forgejo-Event", "push", "X-Forgejo-Delivery", "d-1"}, "d-1", "push"},
		{VCS_AZURE, {NULL}, "e-1:3", "git.push"},
		/* the hash of the body, or of an odd id */
		{VCS_GITHUB, {"X-GitHub-Event", "a\nb", NULL}, "sha256:", ""},
	};
	json_auto_t *body = json_pack("{s:s, s:i, s:s}", "id", "e-1", "notificationId", 3, "eventType", "git.push");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct vcs_delivery delivery = {rows[i].dialect, header, rows[i].headers, text_bytes(BODY)};
		struct vcs_delivery_name name;

		vcs_delivery_name(&delivery, body, &name);
		if (text_starts(rows[i].id, "sha256:"))
			assert_true(text_starts(name.id, "sha256:") && strlen(name.id) == 7 + 64);
		else
			assert_string_equal(name.id, rows[i].id);
		assert_string_equal(name.event, rows[i].event);
	}
}

static void odd_ids_stay_different(void **state)
{
	_cleanup_(freep) char *wide = mem_new(1001, 1), *other = mem_new(1001, 1);
	struct vcs_delivery_name names[2];

	(void)state;
	memset(wide, 'a', 1000);
	memset(other, 'a', 1000);
	other[999] = 'b';
	for (int i = 0; i < 2; i++) {
		const char *const headers[] = {"X-Gitea-Delivery", i ? other : wide, NULL};
		const struct vcs_delivery delivery = {VCS_GITEA, header, headers, text_bytes(BODY)};

		vcs_delivery_name(&delivery, NULL, &names[i]);
		assert_int_equal(strlen(names[i].id), 7 + 64);
	}
	assert_string_not_equal(names[0].id, names[1].id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hmac_is_the_known_one),
		cmocka_unit_test(signatures_prove_the_body),
		cmocka_unit_test(a_signature_with_the_empty_secret_proves_nothing),
		cmocka_unit_test(each_byte_of_the_body_counts),
		cmocka_unit_test(a_body_may_have_any_bytes),
		cmocka_unit_test(the_previous_secret_holds_too),
		cmocka_unit_test(gitea_is_not_asked_twice),
		cmocka_unit_test(gitlab_sends_its_token),
		cmocka_unit_test(gitlab_signs_with_a_time),
		cmocka_unit_test(a_signature_of_gitlab_covers_id_and_time),
		cmocka_unit_test(azure_sends_a_password_or_a_header),
		cmocka_unit_test(plain_git_has_no_proof),
		cmocka_unit_test(deliveries_have_names),
		cmocka_unit_test(odd_ids_stay_different),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
