/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/proof.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/crypto.h"

enum { HEADER_MAX = 1024 }; /* of what is compared */

static const char *header(const struct vcs_delivery *delivery, const char *name)
{
	const char *value = name ? delivery->header(delivery->headers, name) : NULL;

	return value && *value && strlen(value) <= HEADER_MAX ? value : NULL;
}

/* --- kinds of proofs --- */

/* Equal, in a time that depends on the lengths alone. */
static bool is_secret(const char *given, const char *secret)
{
	char digests[2][SHA256_HEX_SIZE];

	crypto_sha256_hex(given, strlen(given), digests[0]);
	crypto_sha256_hex(secret, strlen(secret), digests[1]);
	return crypto_equal(digests[0], digests[1]);
}

/* `given` is the hexadecimal HMAC of the body after `prefix`. */
static bool is_signature(const char *given, const char *prefix, struct bytes body, const char *secret)
{
	unsigned char digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	if (!given || !text_starts(given, prefix))
		return false;
	crypto_hmac_bytes(secret, strlen(secret), body.data ? body.data : "", body.len, digest);
	crypto_hex(digest, sizeof(digest), hex);
	return crypto_equal(given + strlen(prefix), hex);
}

static bool holds_github(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	(void)now;
	return is_signature(header(delivery, "X-Hub-Signature-256"), "sha256=", delivery->body, secret);
}

static bool holds_bitbucket(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	(void)now;
	return is_signature(header(delivery, "X-Hub-Signature"), "sha256=", delivery->body, secret);
}

static bool holds_gitea(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	const char *given = header(delivery, "X-Gitea-Signature");

	given = given ? given : header(delivery, "X-Forgejo-Signature");
	if (given)
		return is_signature(given, "", delivery->body, secret);
	return holds_github(delivery, secret, now);
}

/* The password of "Basic base64(user:password)". */
static bool is_password(const char *given, const char *secret)
{
	static const char scheme[] = "Basic ";
	_cleanup_(buf_release) struct buf plain = BUF_INIT(HEADER_MAX);
	const char *password;

	if (strncasecmp(given, scheme, strlen(scheme)) != 0 || crypto_base64_decode(given + strlen(scheme), &plain) < 0)
		return false;
	password = strchr(buf_str(&plain), ':');
	return password && is_secret(password + 1, secret);
}

static bool holds_azure(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	const char *own = header(delivery, "X-Runyard-Secret"), *basic = header(delivery, "Authorization");

	(void)now;
	return own ? is_secret(own, secret) : basic && is_password(basic, secret);
}

/* --- GitLab's signatures (Standard Webhooks) --- */

static const char key_prefix[] = "whsec_", version[] = "v1,";

/* The signature that the delivery should have, after "v1,": base64 of the HMAC of "id.timestamp.body". */
static char *standard_signature(const struct vcs_delivery *delivery, const char *id, const char *time, struct bytes key)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(delivery->body.len + (size_t)(2 * HEADER_MAX + 2));
	unsigned char digest[SHA256_SIZE];

	if (buf_printf(&text, "%s.%s.", id, time) < 0 || buf_append(&text, delivery->body.data, delivery->body.len) < 0)
		return NULL;
	crypto_hmac_bytes(key.data, key.len, text.data, text.len, digest);
	return crypto_base64(digest, sizeof(digest));
}

/* True if one of the signatures, which spaces separate, is the expected one. All are compared. */
static bool has_signature(const char *given, const char *expected)
{
	_cleanup_(freep) char *copy = mem_text(given);
	char *rest = copy;
	bool found = false;

	for (char *one; (one = strsep(&rest, " ")) != NULL;)
		found |= text_starts(one, version) && crypto_equal(one + strlen(version), expected);
	return found;
}

static bool is_fresh(const char *time, long long now)
{
	long long seconds;

	return text_number(time, 0, INT64_MAX / 2, &seconds) == 0 && seconds >= now - VCS_PROOF_SECONDS &&
		seconds <= now + VCS_PROOF_SECONDS;
}

static bool holds_standard(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	_cleanup_(buf_release) struct buf key = BUF_INIT(HEADER_MAX);
	const char *id = header(delivery, "webhook-id"), *time = header(delivery, "webhook-timestamp");
	_cleanup_(freep) char *expected = NULL;

	if (!id || !time || !is_fresh(time, now) || crypto_base64_decode(secret + strlen(key_prefix), &key) < 0 ||
		!key.len)
		return false;
	expected = standard_signature(delivery, id, time, buf_bytes(&key));
	return expected && has_signature(header(delivery, "webhook-signature"), expected);
}

static bool holds_gitlab(const struct vcs_delivery *delivery, const char *secret, long long now)
{
	const char *token = header(delivery, "X-Gitlab-Token");

	if (text_starts(secret, key_prefix) && header(delivery, "webhook-signature"))
		return holds_standard(delivery, secret, now);
	return token && is_secret(token, secret);
}

static bool (*const proofs[VCS_DIALECTS])(const struct vcs_delivery *delivery, const char *secret, long long now) = {
	[VCS_GITHUB] = holds_github,
	[VCS_GITLAB] = holds_gitlab,
	[VCS_BITBUCKET_CLOUD] = holds_bitbucket,
	[VCS_BITBUCKET_SERVER] = holds_bitbucket,
	[VCS_AZURE] = holds_azure,
	[VCS_GITEA] = holds_gitea,
};

bool vcs_proof_holds(const struct vcs_delivery *delivery, const struct vcs_secrets *secrets, long long now_seconds)
{
	const char *const both[] = {secrets->current, secrets->previous};
	bool holds = false;

	if (!proofs[delivery->dialect])
		return false;
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		if (both[i] && *both[i])
			holds |= proofs[delivery->dialect](delivery, both[i], now_seconds);
	}
	return holds;
}

/* --- names --- */

static const struct {
	const char *event[2], *id[2]; /* headers: the first that is there */
} names[VCS_DIALECTS] = {
	[VCS_GITHUB] = {{"X-GitHub-Event"}, {"X-GitHub-Delivery"}},
	[VCS_GITLAB] = {{"X-Gitlab-Event"}, {"Idempotency-Key", "X-Gitlab-Event-UUID"}},
	[VCS_BITBUCKET_CLOUD] = {{"X-Event-Key"}, {"X-Request-UUID"}},
	[VCS_BITBUCKET_SERVER] = {{"X-Event-Key"}, {"X-Request-Id"}},
	[VCS_GITEA] = {{"X-Gitea-Event", "X-Forgejo-Event"}, {"X-Gitea-Delivery", "X-Forgejo-Delivery"}},
};

static const char *first_header(const struct vcs_delivery *delivery, const char *const pair[2])
{
	const char *value = header(delivery, pair[0]);

	return value ? value : header(delivery, pair[1]);
}

static bool is_printable(const char *text)
{
	while (*text >= ' ' && *text < 0x7f)
		text++;
	return !*text;
}

/* An id that is too long or has other bytes than printable ASCII is replaced by its hash. */
static void set_id(struct vcs_delivery_name *name, struct bytes id, bool as_it_is)
{
	char hex[SHA256_HEX_SIZE];

	if (as_it_is) {
		text_copy(name->id, sizeof(name->id), id.data);
		return;
	}
	crypto_sha256_hex(id.data ? id.data : "", id.len, hex);
	snprintf(name->id, sizeof(name->id), "sha256:%s", hex);
}

static void set_event(struct vcs_delivery_name *name, const char *event)
{
	name->event[0] = '\0';
	if (event && strlen(event) < sizeof(name->event) && is_printable(event))
		text_copy(name->event, sizeof(name->event), event);
}

/* Azure DevOps names the event in the body. One event has a notification for each subscription. */
static char *azure_id(const json_t *body)
{
	const char *id = json_string_at(body, "id");
	const long long notification = json_int_at(body, "notificationId", 0);

	return id && *id ? mem_printf("%s:%lld", id, notification) : NULL;
}

void vcs_delivery_name(const struct vcs_delivery *delivery, const json_t *body, struct vcs_delivery_name *ret_name)
{
	const bool azure = delivery->dialect == VCS_AZURE;
	_cleanup_(freep) char *id =
		azure ? azure_id(body) : mem_text(first_header(delivery, names[delivery->dialect].id));

	set_event(ret_name,
		azure ? json_string_at(body, "eventType") : first_header(delivery, names[delivery->dialect].event));
	if (id)
		set_id(ret_name, text_bytes(id), strlen(id) < sizeof(ret_name->id) && is_printable(id));
	else
		set_id(ret_name, delivery->body, false);
}
