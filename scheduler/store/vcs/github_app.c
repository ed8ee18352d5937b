/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/github_app.h"

#include <string.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/json/json.h"

enum { KEY_BITS_LEAST = 2048 };

#define PUBLIC_URL     "https://github.com"
#define PUBLIC_API_URL "https://api.github.com"

static void key_freep(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void bio_freep(BIO **bio)
{
	BIO_free(*bio);
}

/* A key with a passphrase is refused: OpenSSL would ask for it at the terminal. */
static int no_passphrase(char *text, int size, int for_writing, void *data)
{
	(void)text;
	(void)size;
	(void)for_writing;
	(void)data;
	return -1;
}

static int key_read(const char *pem, EVP_PKEY **ret_key, struct err *err)
{
	_cleanup_(bio_freep) BIO *bio = mem_check(BIO_new_mem_buf(pem, (int)strlen(pem)));
	_cleanup_(key_freep) EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);

	if (!key || EVP_PKEY_base_id(key) != EVP_PKEY_RSA || EVP_PKEY_bits(key) < KEY_BITS_LEAST)
		return err_set(err, ERR_INVALID,
			"--github-app-key-file: the file must hold the App's private key, an RSA key in PEM");
	*ret_key = key;
	key = NULL;
	return 0;
}

static char *api_url_make(const struct github_app_settings *settings)
{
	if (*settings->api_url)
		return mem_text(settings->api_url);
	return text_equal(settings->url, PUBLIC_URL) ? mem_text(PUBLIC_API_URL)
						     : mem_printf("%s/api/v3", settings->url);
}

int github_app_open(const struct github_app_settings *settings, struct github_app **ret_app, struct err *err)
{
	struct github_app *app;
	EVP_PKEY *key = NULL;

	*ret_app = NULL;
	if (!*settings->id)
		return 0;
	if (!*settings->key)
		return err_set(err, ERR_INVALID, "--github-app-id needs --github-app-key-file");
	if (key_read(settings->key, &key, err) < 0)
		return -1;
	app = mem_new(1, sizeof(*app));
	*app = (struct github_app){.url = mem_text(settings->url),
		.api_url = api_url_make(settings),
		.id = mem_text(settings->id),
		.client_id = mem_text(settings->client_id),
		.client_secret = mem_text(settings->client_secret),
		.webhook_secret = mem_text(settings->webhook_secret),
		.key = key};
	*ret_app = app;
	return 0;
}

void github_app_close(struct github_app *app)
{
	if (!app)
		return;
	free(app->url);
	free(app->api_url);
	free(app->id);
	free(app->client_id);
	crypto_secret_freep(&app->client_secret);
	crypto_secret_freep(&app->webhook_secret);
	EVP_PKEY_free(app->key);
	free(app);
}

bool github_app_is_connectable(const struct github_app *app)
{
	return app && *app->client_id && *app->client_secret;
}

const char *github_app_url(const struct github_app *app)
{
	return app ? app->url : PUBLIC_URL;
}

const char *github_app_api_url(const struct github_app *app)
{
	return app ? app->api_url : PUBLIC_API_URL;
}

/* ---- the token ---- */

static void must(bool done)
{
	if (!done)
		abort(); /* the key was checked, so only memory can be missing */
}

static void context_freep(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

/* The caller frees it. */
static char *signature_of(const struct github_app *app, const char *text)
{
	_cleanup_(context_freep) EVP_MD_CTX *context = mem_check(EVP_MD_CTX_new());
	_cleanup_(freep) unsigned char *signature = NULL;
	const unsigned char *bytes = (const unsigned char *)text;
	size_t len = 0;

	must(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, app->key) == 1);
	must(EVP_DigestSign(context, NULL, &len, bytes, strlen(text)) == 1);
	signature = mem_new(len, 1);
	must(EVP_DigestSign(context, signature, &len, bytes, strlen(text)) == 1);
	return crypto_base64url(signature, len);
}

char *github_app_jwt(const struct github_app *app, long long now)
{
	static const char head[] = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}";
	json_auto_t *claims = json_pack("{sI sI ss}", "iat", (json_int_t)(now - JWT_SKEW), "exp",
		(json_int_t)(now + JWT_SECONDS), "iss", app->id);
	_cleanup_(freep) char *claims_text = json_text(claims);
	_cleanup_(freep) char *first = crypto_base64url(head, strlen(head));
	_cleanup_(freep) char *second = crypto_base64url(claims_text, strlen(claims_text));
	_cleanup_(freep) char *text = mem_printf("%s.%s", first, second);
	_cleanup_(freep) char *signature = signature_of(app, text);

	return mem_printf("%s.%s", text, signature);
}
