/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/object_url.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/crypto.h"

enum { URL_LIMIT = 16 << 10 };

/* Appends the path as the signature has it: each byte but unreserved ones and the slash is encoded. */
static void path_add(struct buf *out, const char *path)
{
	for (const char *at = path; *at; at++) {
		const char one[] = {*at, '\0'};

		if (*at == '/')
			buf_text(out, one);
		else
			buf_url(out, one);
	}
}

/* The header `host` as HTTP clients send it: without the scheme's own port. */
static char *host_of(const char *url)
{
	const char *host = strstr(url, "://") + 3, *usual = text_starts(url, "https:") ? ":443" : ":80";
	_cleanup_(freep) char *text = mem_printf("%.*s", (int)strcspn(host, "/"), host);
	size_t len = strlen(text), usual_len = strlen(usual);

	if (len > usual_len && text_equal(text + len - usual_len, usual))
		text[len - usual_len] = '\0';
	return mem_text(text);
}

/* The key that signs requests of one day. */
static void day_key(const struct objects_settings *settings, const char *day, unsigned char ret_key[SHA256_SIZE])
{
	const char *const parts[] = {day, settings->region, "s3", "aws4_request"};
	_cleanup_(freep) char *secret = mem_printf("AWS4%s", settings->secret_key);
	unsigned char next[SHA256_SIZE];

	crypto_hmac(secret, strlen(secret), parts[0], ret_key);
	for (size_t i = 1; i < ARRAY_LEN(parts); i++) {
		crypto_hmac(ret_key, SHA256_SIZE, parts[i], next);
		memcpy(ret_key, next, sizeof(next));
	}
}

/* A request that is signed: all parts but the signature. */
struct signing {
	struct buf path, query;
	char *host, *scope;
	char at[20]; /* 20261123T054000Z, of which the first 8 characters are the day */
};

static void signing_sign(
	const struct signing *s, const struct objects_settings *settings, char ret_signature[SHA256_HEX_SIZE])
{
	_cleanup_(freep) char *request = mem_printf(
		"PUT\n%s\n%s\nhost:%s\n\nhost\nUNSIGNED-PAYLOAD", buf_str(&s->path), buf_str(&s->query), s->host);
	_cleanup_(freep) char *day = mem_printf("%.8s", s->at), *text = NULL;
	unsigned char key[SHA256_SIZE];
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(request, strlen(request), digest);
	text = mem_printf("AWS4-HMAC-SHA256\n%s\n%s\n%s", s->at, s->scope, digest);
	day_key(settings, day, key);
	crypto_hmac_hex(key, sizeof(key), text, ret_signature);
}

char *object_put_url(const struct objects_settings *settings, const char *key, long long now)
{
	_cleanup_(freep) char *url = mem_printf("%s/%s", settings->url, key);
	const char *scheme_end = strstr(url, "://") + 3;
	struct signing s = {.path = BUF_INIT(URL_LIMIT), .query = BUF_INIT(URL_LIMIT), .host = host_of(url)};
	_cleanup_(freep) char *credential = NULL;
	char signature[SHA256_HEX_SIZE], *signed_url;
	time_t seconds = (time_t)now;
	struct tm utc;

	strftime(s.at, sizeof(s.at), "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &utc));
	s.scope = mem_printf("%.8s/%s/s3/aws4_request", s.at, settings->region);
	credential = mem_printf("%s/%s", settings->access_key, s.scope);
	path_add(&s.path, scheme_end + strcspn(scheme_end, "/"));
	buf_text(&s.query, "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=");
	buf_url(&s.query, credential);
	buf_printf(&s.query, "&X-Amz-Date=%s&X-Amz-Expires=%d&X-Amz-SignedHeaders=host", s.at, OBJECT_URL_SECONDS);
	signing_sign(&s, settings, signature);
	signed_url = mem_printf("%.*s%s%s?%s&X-Amz-Signature=%s", (int)(scheme_end - url), url, s.host,
		buf_str(&s.path), buf_str(&s.query), signature);
	buf_release(&s.path);
	buf_release(&s.query);
	free(s.host);
	free(s.scope);
	return signed_url;
}
