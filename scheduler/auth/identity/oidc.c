/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/oidc.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/jose/jose.h"
#include "scheduler/auth/identity/oidc.sql.h"
#include "scheduler/auth/identity/oidc_claims.h"
#include "scheduler/auth/identity/oidc_metadata.h"

#define LOGOUT_EVENT "http://schemas.openid.net/event/backchannel-logout"

enum { URL_LIMIT = 8192, FORM_LIMIT = 16 << 10, GRAPH_PAGES = 20, LOGOUT_SECONDS = 300 };

/* ---- requests ---- */

void oidc_request_release(struct oidc_request *request)
{
	crypto_secret_freep(&request->nonce);
	crypto_secret_freep(&request->verifier);
}

struct oidc_request oidc_request_new(void)
{
	return (struct oidc_request){.nonce = crypto_token(""), .verifier = crypto_token("")};
}

char *oidc_request_text(const struct oidc_request *request)
{
	return mem_printf("%s %s", request->nonce, request->verifier);
}

int oidc_request_parse(const char *text, struct oidc_request *ret_request, struct err *err)
{
	const char *blank = strchr(text_or_empty(text), ' ');

	if (!blank)
		return err_set(err, ERR_FORBIDDEN, "This sign-in began in another way. Sign in again.");
	*ret_request = (struct oidc_request){
		.nonce = mem_printf("%.*s", (int)(blank - text), text), .verifier = mem_text(blank + 1)};
	return 0;
}

/* name=value of a form or a query. */
static void pair_add(struct buf *out, const char *name, const char *value)
{
	if (out->len && !strchr("?&", out->data[out->len - 1]))
		buf_text(out, "&");
	buf_printf(out, "%s=", name);
	buf_url(out, value);
}

int oidc_sign_in_url(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const char *state, bool prove_again, char **ret_url, struct err *err)
{
	_cleanup_(freep) char *redirect = oidc_redirect_uri(store, provider);
	_cleanup_(freep) char *challenge = crypto_challenge(request->verifier);
	const char *scopes = text_or_null(json_string_at(provider->settings, "scopes")), *page;
	struct buf url = BUF_INIT(URL_LIMIT);
	json_auto_t *document = NULL;

	/* A browser at a provider that is away would show an error of its own. */
	if (oidc_metadata_reach(store, provider, &document, err) < 0)
		return -1;
	page = json_string_at(document, "authorization_endpoint");
	buf_printf(&url, "%s%s", page, strchr(page, '?') ? "&" : "?");
	pair_add(&url, "response_type", "code");
	pair_add(&url, "client_id", provider->client_id);
	pair_add(&url, "redirect_uri", redirect);
	pair_add(&url, "scope", scopes ? scopes : "openid profile email");
	pair_add(&url, "state", state);
	pair_add(&url, "nonce", request->nonce);
	pair_add(&url, "code_challenge", challenge);
	pair_add(&url, "code_challenge_method", "S256");
	if (prove_again) {
		pair_add(&url, "prompt", "login");
		pair_add(&url, "max_age", "0");
	}
	*ret_url = buf_take(&url);
	return 0;
}

/* ---- tokens ---- */

/* Verifies the signature and the claims that every token of the provider has. */
static int token_verify(
	struct store *store, const struct oidc_provider *provider, const struct jwt *jwt, struct err *err)
{
	const struct jwt_expected expected = {
		.issuer = provider->issuer, .audience = provider->client_id, .now = clock_wall_us() / 1000000};
	json_auto_t *keys = NULL, *newer = NULL;

	if (oidc_keys_read(store, provider, false, &keys, err) < 0)
		return -1;
	if (jwt_verify(jwt, keys, err) == 0)
		return jwt_check(jwt, &expected, err);
	if (err->kind != ERR_NOT_FOUND || oidc_keys_read(store, provider, true, &newer, err) < 0)
		return -1;
	return jwt_verify(jwt, newer, err) < 0 ? -1 : jwt_check(jwt, &expected, err);
}

/* A token for several audiences says for which one it was made (`azp`). */
static int id_token_check(const struct oidc_provider *provider, const struct oidc_request *request,
	const struct jwt *jwt, struct err *err)
{
	const json_t *party = json_object_get(jwt->claims, "azp");

	if (!text_equal(json_string_at(jwt->claims, "nonce"), request->nonce))
		return err_set(err, ERR_FORBIDDEN, "the token is the answer to another sign-in");
	if ((party || json_array_size(json_object_get(jwt->claims, "aud")) > 1) &&
		!text_equal(json_string_value(party), provider->client_id))
		return err_set(err, ERR_FORBIDDEN, "the token was made for another application");
	return 0;
}

static int id_token_read(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const json_t *answer, json_t **ret_claims, struct err *err)
{
	_cleanup_(jwt_release) struct jwt jwt = JWT_INIT;

	if (jwt_read(json_string_at(answer, "id_token"), &jwt, err) < 0 ||
		token_verify(store, provider, &jwt, err) < 0 || id_token_check(provider, request, &jwt, err) < 0) {
		/* A key that is not found is a refusal like the others. */
		if (err->kind == ERR_NOT_FOUND)
			err->kind = ERR_FORBIDDEN;
		return err->kind == ERR_FORBIDDEN ? err_context(err, "The identity provider's answer is refused") : -1;
	}
	*ret_claims = json_incref(jwt.claims);
	return 0;
}

/* ---- the exchange ---- */

/* "Authorization: Basic ..." if the provider takes it, which OAuth makes the usual way (RFC 6749, 2.3.1); else NULL. */
static char *client_header(const struct oidc_provider *provider, const json_t *document)
{
	json_t *methods = json_object_get(document, "token_endpoint_auth_methods_supported"), *method;
	_cleanup_(buf_release) struct buf pair = BUF_INIT(URL_LIMIT);
	_cleanup_(crypto_secret_freep) char *encoded = NULL;
	bool basic = !methods;
	size_t i;

	json_array_foreach(methods, i, method) basic |= text_equal(json_string_value(method), "client_secret_basic");
	if (!basic || !*provider->secret)
		return NULL;
	buf_url(&pair, provider->client_id);
	buf_text(&pair, ":");
	buf_url(&pair, provider->secret);
	encoded = crypto_base64(pair.data, pair.len);
	return mem_printf("Authorization: Basic %s", encoded);
}

static int code_redeem(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const char *code, const json_t *document, json_t **ret_answer, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *header = client_header(provider, document);
	_cleanup_(freep) char *redirect = oidc_redirect_uri(store, provider);
	_cleanup_(buf_release) struct buf form = BUF_INIT(FORM_LIMIT);

	pair_add(&form, "grant_type", "authorization_code");
	pair_add(&form, "code", code);
	pair_add(&form, "redirect_uri", redirect);
	pair_add(&form, "code_verifier", request->verifier);
	pair_add(&form, "client_id", provider->client_id);
	if (!header && *provider->secret)
		pair_add(&form, "client_secret", provider->secret);
	return oidc_call(store,
		&(struct oidc_call){.method = "POST",
			.url = json_string_at(document, "token_endpoint"),
			.authorization = header,
			.form = buf_str(&form)},
		"the code", ret_answer, err);
}

/* The userinfo endpoint and the Graph have claims that the ID token lacks. */
struct sources {
	const char *bearer; /* a header */
	bool has_all;       /* the userinfo endpoint has answered, if there is one */
};

/* Some providers put addresses and groups at their userinfo endpoint only. What the ID token says is signed and counts
 * first. Without an answer the ID token has to do. */
static void userinfo_add(struct store *store, const json_t *document, struct sources *sources, json_t *claims)
{
	const char *url = json_string_at(document, "userinfo_endpoint");
	struct err ignored = ERR_INIT;
	json_auto_t *answer = NULL;

	sources->has_all = !url ||
		(oidc_call(store, &(struct oidc_call){.method = "GET", .url = url, .authorization = sources->bearer},
			 "the claims of the person", &answer, &ignored) == 0 &&
			text_equal(json_string_at(answer, "sub"), json_string_at(claims, "sub")));
	if (answer && sources->has_all)
		json_object_update_missing(claims, answer);
}

/* Reads the groups at Entra ID's Graph, page by page. All pages are at the host of the first. */
static json_t *graph_groups(struct store *store, const char *endpoint, const char *bearer)
{
	_cleanup_(freep) char *url = mem_text(endpoint);
	const char *path = strstr(endpoint, "://");
	size_t host = path ? (size_t)(strchrnul(path + 3, '/') - endpoint) : strlen(endpoint);
	_cleanup_(freep) char *origin = mem_printf("%.*s/", (int)host, endpoint);
	json_t *all = json_array();

	for (int page = 0; page < GRAPH_PAGES && url; page++) {
		struct err ignored = ERR_INIT;
		json_auto_t *answer = NULL, *groups = NULL;
		const char *next;

		if (oidc_call(store, &(struct oidc_call){.method = "GET", .url = url, .authorization = bearer},
			    "the groups", &answer, &ignored) < 0)
			break;
		groups = claim_groups(json_object_get(answer, "value"));
		json_array_extend(all, groups);
		next = json_string_value(json_object_get(answer, "@odata.nextLink")); /* a name with a dot */
		if (!next)
			return all;
		if (!text_starts(next, origin))
			break;
		free(url);
		url = mem_text(next);
	}
	json_decref(all);
	return NULL;
}

/* The claim with the groups; NULL if the settings say that the provider sends none. */
static const char *groups_claim(const struct oidc_provider *provider)
{
	const char *claim = json_string_at(provider->settings, "groups-claim");

	return claim ? text_or_null(claim) : "groups";
}

/* Keycloak, Entra ID and Okta leave the claim out for a person without groups. So a missing claim means that there are
 * none, unless it may be missing for another reason. */
static void groups_read(struct store *store, const struct oidc_provider *provider, const struct sources *sources,
	struct oidc_result *result)
{
	const char *claim = groups_claim(provider);
	const char *graph = text_or_null(json_string_at(provider->settings, "graph-endpoint"));

	if (!claim)
		return;
	if (claim_groups_left_out(result->claims, claim)) {
		if (graph)
			result->groups = graph_groups(store, graph, sources->bearer);
		if (!result->groups)
			result->groups_why = graph
				? "The provider left out the groups, and its Graph endpoint did not give them."
				: "The provider left out the groups, since there are too many: set graph-endpoint.";
		return;
	}
	result->groups = claim_groups(claim_at(result->claims, claim));
	if (!result->groups && sources->has_all)
		result->groups = json_array();
	else if (!result->groups)
		result->groups_why = "The provider's userinfo endpoint, which may know the groups, did not answer.";
}

void oidc_result_release(struct oidc_result *result)
{
	json_decref(result->claims);
	json_decref(result->groups);
	result->claims = result->groups = NULL;
}

int oidc_exchange(struct store *store, const struct oidc_provider *provider, const struct oidc_request *request,
	const char *code, struct oidc_result *ret_result, struct err *err)
{
	struct oidc_result result = {.person = {.provider_id = provider->id.text, .issuer = provider->issuer}};
	_cleanup_(crypto_secret_freep) char *bearer = NULL;
	json_auto_t *document = NULL, *answer = NULL;
	struct sources sources;

	if (oidc_metadata_read(store, provider, &document, err) < 0 ||
		code_redeem(store, provider, request, code, document, &answer, err) < 0 ||
		id_token_read(store, provider, request, answer, &result.claims, err) < 0)
		return -1;
	bearer = mem_printf("Authorization: Bearer %s", text_or_empty(json_string_at(answer, "access_token")));
	sources = (struct sources){.bearer = bearer};
	userinfo_add(store, document, &sources, result.claims);
	groups_read(store, provider, &sources, &result);
	if (claims_read(result.claims, provider->settings, result.groups, &result.person, err) < 0) {
		oidc_result_release(&result);
		return -1;
	}
	result.session = json_string_at(result.claims, "sid");
	*ret_result = result;
	return 0;
}

/* ---- logout ---- */

void oidc_logout_release(struct oidc_logout *logout)
{
	free(logout->subject);
	free(logout->session);
}

static int logout_claims_check(const json_t *claims, struct err *err)
{
	if (!json_is_object(json_object_get(json_object_get(claims, "events"), LOGOUT_EVENT)) ||
		json_object_get(claims, "nonce"))
		return err_set(err, ERR_FORBIDDEN, "the token is no logout token");
	if (!text_or_null(json_string_at(claims, "jti")))
		return err_set(err, ERR_FORBIDDEN, "the token has no id");
	if (!json_string_at(claims, "sub") && !json_string_at(claims, "sid"))
		return err_set(err, ERR_FORBIDDEN, "the token names neither a person nor a session");
	return 0;
}

static int logout_use(struct store *store, const struct oidc_provider *provider, const json_t *claims, struct err *err)
{
	_cleanup_(freep) char *name = mem_printf("%s %s", provider->issuer, json_string_at(claims, "jti"));
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char id[SHA256_HEX_SIZE];

	crypto_sha256_hex(name, strlen(name), id);
	if (db_query(store->db, &rows, err, logout_token_use, .id = id,
		    .expires_at = json_int_at(claims, "exp", clock_wall_us() / 1000000 + LOGOUT_SECONDS)) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_FORBIDDEN, "the token was used before");
}

int oidc_logout_check(struct store *store, const struct oidc_provider *provider, const char *token,
	struct oidc_logout *ret_logout, struct err *err)
{
	_cleanup_(jwt_release) struct jwt jwt = JWT_INIT;
	const char *subject, *session;

	if (jwt_read(token, &jwt, err) < 0 || token_verify(store, provider, &jwt, err) < 0 ||
		logout_claims_check(jwt.claims, err) < 0 || logout_use(store, provider, jwt.claims, err) < 0)
		return -1;
	subject = json_string_at(jwt.claims, "sub");
	session = json_string_at(jwt.claims, "sid");
	*ret_logout = (struct oidc_logout){
		.subject = subject ? mem_text(subject) : NULL, .session = session ? mem_text(session) : NULL};
	return 0;
}

int oidc_logouts_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, logout_tokens_sweep);
}

char *oidc_end_session_url(struct store *store, const struct oidc_provider *provider)
{
	_cleanup_(freep) char *back = mem_printf("%s/app/login", store->settings->public_url);
	struct err ignored = ERR_INIT;
	json_auto_t *document = NULL;
	struct buf url = BUF_INIT(URL_LIMIT);
	const char *page;

	if (oidc_metadata_read(store, provider, &document, &ignored) < 0)
		return NULL;
	page = json_string_at(document, "end_session_endpoint");
	if (!page || (!text_starts(page, "https://") && !text_starts(page, "http://")))
		return NULL;
	buf_printf(&url, "%s%s", page, strchr(page, '?') ? "&" : "?");
	pair_add(&url, "client_id", provider->client_id);
	pair_add(&url, "post_logout_redirect_uri", back);
	return buf_take(&url);
}

/* ---- testing a connection ---- */

int oidc_provider_test(struct store *store, const struct oidc_provider *provider, json_t **ret_facts, struct err *err)
{
	json_auto_t *document = NULL, *keys = NULL;

	oidc_metadata_forget(provider->id.text);
	if (oidc_metadata_read(store, provider, &document, err) < 0 ||
		oidc_keys_read(store, provider, false, &keys, err) < 0)
		return -1;
	*ret_facts = json_pack("{ss ss ss sI sb sb}", "issuer", provider->issuer, "authorization-endpoint",
		json_string_at(document, "authorization_endpoint"), "token-endpoint",
		json_string_at(document, "token_endpoint"), "keys",
		(json_int_t)json_array_size(json_object_get(keys, "keys")), "ends-sessions",
		json_string_at(document, "end_session_endpoint") != NULL, "notifies-of-logouts",
		json_is_true(json_object_get(document, "backchannel_logout_supported")));
	return 0;
}
