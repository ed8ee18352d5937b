/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/identity/identities.h"
#include "scheduler/auth/saml/person.h"
#include "scheduler/auth/saml/sign_in.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/return_path.h"
#include "scheduler/ui/saml/saml.h"
#include "scheduler/ui/sign_in.h"
#include "scheduler/ui/sign_in_limits.h"
#include "scheduler/ui/vcs_pages.h"

/*
 * The addresses of SAML. auth/saml/sign_in.h has the steps of a sign-in, and why the response is taken in one request
 * and the session made in the next.
 */

#define TITLE "Sign in by SAML"

/* ---- what all pages share ---- */

static struct saml_site site_of(const struct request *req, const struct saml_provider *provider)
{
	return (struct saml_site){req->store, req->services->saml, provider};
}

static int status_of(const struct err *err)
{
	return err_http_status(err->kind == ERR_INVALID ? ERR_FORBIDDEN : err->kind);
}

/* An error with a sentence for the person, or an internal one that the server reports. */
static bool is_sentence(const struct err *err)
{
	return err->kind == ERR_INVALID || err->kind == ERR_FORBIDDEN || err->kind == ERR_CONFLICT ||
		err->kind == ERR_UNAVAILABLE;
}

/* The reason of a refused message is for the audit trail, and for the page only while an operator sets the provider up.
 */
static int refusal_show(struct request *req, struct response *res, const struct saml_provider *provider,
	const struct err *why, struct err *err)
{
	_cleanup_(freep) char *sentence = NULL;

	if (!is_sentence(why)) {
		*err = *why;
		return -1;
	}
	if (why->kind == ERR_INVALID)
		sentence = saml_flag(provider, "debug")
			? mem_printf("The identity provider's answer is refused: %s.", why->message)
			: mem_printf("The identity provider's answer is refused. Ask a site administrator: the "
				     "audit trail has the reason.");
	if (why->kind == ERR_UNAVAILABLE)
		text_copy(res->http->retry_after, sizeof(res->http->retry_after), "30");
	return sign_in_refuse(req, res,
		&(struct sign_in_refusal){.status = status_of(why),
			.method = "saml",
			.reason = why->message,
			.sentence = sentence ? sentence : why->message,
			.return_path = APP_PATH},
		err);
}

static int too_many_show(const struct request *req, struct response *res)
{
	text_copy(res->http->retry_after, sizeof(res->http->retry_after), "30");
	return page_say(req, res, 429, TITLE, "There were too many attempts. Try again in half a minute.");
}

/* ---- metadata ---- */

int saml_metadata(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	struct buf document = BUF_INIT(SIZE_MAX / 2);
	json_auto_t *answer = NULL;

	if (saml_provider_read(req->store, &provider, err) < 0 ||
		helper_ask(req->services->saml, saml_request(req->store, &provider, "metadata"), &answer, err) < 0)
		return -1;
	buf_text(&document, text_or_empty(json_string_at(answer, "document")));
	return respond_bytes(res, "application/samlmetadata+xml", &document);
}

/* ---- the beginning ---- */

/* The purposes that an address may ask for; the others need a signed-in user. */
static const char *purpose_of(const struct request *req)
{
	const char *purpose = text_or_empty(query(req, "purpose"));

	return text_equal(purpose, "test") || text_equal(purpose, "link") ? purpose : "sign_in";
}

static int begin(struct request *req, struct response *res, const struct saml_provider *provider, struct err *err)
{
	const struct sign_in_attempt_order order = {.purpose = purpose_of(req),
		.user_id = text_or_null(req->actor.user.text),
		.return_path = return_path(query(req, "return"))};
	_cleanup_(sign_in_attempt_release) struct sign_in_attempt attempt = SIGN_IN_ATTEMPT_INIT;
	_cleanup_(freep) char *cookie = NULL;
	_cleanup_(freep) char *url = NULL;
	const struct saml_site site = site_of(req, provider);
	struct err why = ERR_INIT;

	if (saml_begin(&site, order, http_cookie(req->http, ATTEMPT_COOKIE), &attempt, &url, &why) < 0)
		return refusal_show(req, res, provider, &why, err);
	cookie = sign_in_attempt_set_cookie(req->store, attempt.cookie);
	http_add_header(res->http, "Set-Cookie", cookie);
	return page_redirect_far(res, url);
}

/* The test of settings that are not enabled yet: for site admins alone. */
static int test_begin(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	int allowed = page_need_user(req, res, SAML_AUTH_PATH "?purpose=test", err);

	if (allowed <= 0)
		return allowed;
	if (!req->actor.is_site_admin)
		return page_say(req, res, 404, "Not found", "Only site administrators test the sign-in by SAML.");
	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	if (!provider.id.text[0] || !*saml_text(&provider, "sso-endpoint-url"))
		return page_say(
			req, res, 422, TITLE, "The settings of SAML have no SSO endpoint URL: save them first.");
	return begin(req, res, &provider, err);
}

static int link_question(
	const struct request *req, struct response *res, const struct saml_provider *provider, const char *path)
{
	struct page_buf page;

	page_begin(&page, req, "Link your account");
	page_html(&page, "<p>You will be able to sign in as <strong>");
	page_text(&page, req->actor.username);
	page_html(&page, "</strong> with your account at <strong>");
	page_text(&page, provider->name);
	page_html(&page, "</strong>.</p>\n");
	vcs_page_answer(&page, req, path, provider->name);
	return page_send(&page, res, 200);
}

static int enabled_begin(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	bool links = text_equal(purpose_of(req), "link");
	int allowed = links ? page_need_user(req, res, SAML_LINK_PATH, err) : 1;

	if (links && allowed > 0)
		allowed = page_user_self(req, res);
	if (allowed <= 0)
		return allowed;
	if (saml_provider_enabled(req->store, &provider, err) < 0)
		return err->kind == ERR_NOT_FOUND ? page_say(req, res, 422, TITLE, err->message) : -1;
	if (links && vcs_page_asks(req, SAML_LINK_PATH))
		return link_question(req, res, &provider, SAML_LINK_PATH);
	return begin(req, res, &provider, err);
}

/* ---- the response ---- */

int saml_auth_response(struct request *req, struct response *res, struct err *err)
{
	const char *response = page_sent(req, "SAMLResponse"), *state = page_sent(req, "RelayState");
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	_cleanup_(crypto_secret_freep) char *code = NULL;
	_cleanup_(freep) char *path = NULL;
	struct err why = ERR_INIT;
	struct saml_site site;

	if (!*response)
		return page_say(req, res, 400, TITLE, "This address takes the answers of an identity provider.");
	if (!sign_in_address_allowed(req))
		return too_many_show(req, res);
	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	site = site_of(req, &provider);
	if (saml_accept(&site, response, state, &code, &why) < 0 && why.kind == ERR_NOT_FOUND)
		return page_say(req, res, 403, "Not signed in", why.message);
	if (!code)
		return refusal_show(req, res, &provider, &why, err);
	path = mem_printf(SAML_AUTH_PATH "?code=%s", code);
	return page_redirect_far(res, path);
}

/* ---- the end ---- */

static void claims_table(struct page_buf *page, const json_t *attributes)
{
	const char *name;
	json_t *values;

	json_object_foreach((json_t *)attributes, name, values)
	{
		_cleanup_(buf_release) struct buf text = BUF_INIT(SIZE_MAX / 2);
		const json_t *value;
		size_t i;

		json_array_foreach(values, i, value)
			buf_printf(&text, "%s%s", i ? ", " : "", text_or_empty(json_string_value(value)));
		page_fact(page, name, buf_str(&text));
	}
}

/* Shows what the provider says, and what it would lead to. Nothing is stored. */
static int test_show(
	const struct request *req, struct response *res, const struct saml_provider *provider, const json_t *answer)
{
	struct external_person person;
	json_auto_t *groups = NULL;
	_cleanup_(freep) char *list = NULL;
	struct page_buf page;

	saml_person(provider, answer, &person, &groups);
	list = person.groups ? json_text(person.groups) : mem_text("not changed");
	page_begin_below(&page, req, "Test of the sign-in by SAML", &(struct page_up){"/app/admin/saml", "SAML"});
	page_note(&page, "status",
		"The identity provider's answer is accepted. Nobody was signed in, and nothing was changed.");
	page_html(&page, "<h2>What a sign-in would use</h2>\n<table>\n");
	page_fact(&page, "Issuer", person.issuer);
	page_fact(&page, "Subject (NameID)", person.subject);
	page_fact(&page, "Format", text_or_empty(json_string_at(answer, "format")));
	page_fact(&page, "User name", person.username ? person.username : "made from the address");
	page_fact(&page, "Address", person.email ? person.email : "none");
	page_fact(&page, "Teams", list);
	page_fact(&page, "Site administrator",
		person.site_admin < 0       ? "not changed"
			: person.site_admin ? "yes"
					    : "no");
	page_fact(&page, "Assertion", json_bool_at(answer, "encrypted", false) ? "signed and encrypted" : "signed");
	page_html(&page, "</table>\n<h2>Attributes</h2>\n<table>\n");
	claims_table(&page, json_object_get(answer, "attributes"));
	page_html(&page, "</table>\n");
	return page_send(&page, res, 200);
}

/* The account must still be that of the signed-in user who began. */
static int link_finish(struct request *req, struct response *res, const struct external_person *person,
	const struct sign_in_attempt *attempt, struct err *err)
{
	struct err why = ERR_INIT;
	int allowed = page_user(req, err);

	if (allowed < 0)
		return -1;
	if (!allowed || !text_equal(req->actor.user.text, attempt->user_id.text))
		return page_say(req, res, 403, "Not linked", "Sign in again, and begin again.");
	if (identity_link(req->store, person, req->actor.user.text, &why) < 0)
		return page_say(req, res, status_of(&why), "Not linked", why.message);
	if (request_audit_write(req, "link", "identity", req->actor.user.text, err) < 0)
		return -1;
	return page_redirect(res, return_path(attempt->return_path));
}

static int account_sign_in(struct request *req, struct response *res, const struct saml_site *site,
	const json_t *answer, const char *back, struct err *err)
{
	const char *index = json_string_at(answer, "session_index");
	struct external_person person;
	struct identity_account account;
	json_auto_t *groups = NULL;
	struct err why = ERR_INIT;

	saml_person(site->provider, answer, &person, &groups);
	if (identity_sign_in(req->store, &person, &account, &why) < 0)
		return refusal_show(req, res, site->provider, &why, err);
	if (saml_remember(site, answer, err) < 0)
		return -1;
	return sign_in_complete(req, res,
		&(struct sign_in){.user = &account.user,
			.username = account.username,
			.method = "saml",
			.provider_id = site->provider->id.text,
			.provider_session = index,
			.return_path = back},
		err);
}

static int finish(struct request *req, struct response *res, const char *code, struct err *err)
{
	_cleanup_(saml_provider_release) struct saml_provider provider = SAML_PROVIDER_INIT;
	_cleanup_(sign_in_attempt_release) struct sign_in_attempt attempt = SIGN_IN_ATTEMPT_INIT;
	json_auto_t *answer = NULL, *groups = NULL;
	struct external_person person;
	struct err why = ERR_INIT;
	struct saml_site site;

	if (saml_provider_read(req->store, &provider, err) < 0)
		return -1;
	site = site_of(req, &provider);
	if (saml_finish(&site, code, http_cookie(req->http, ATTEMPT_COOKIE), &answer, &attempt, &why) < 0)
		return refusal_show(req, res, &provider, &why, err);
	if (text_equal(attempt.purpose, "test"))
		return page_user(req, err) < 0 ? -1 : test_show(req, res, &provider, answer);
	if (!provider.is_enabled)
		return page_say(req, res, 403, "Not signed in", "Sign-in by SAML is switched off.");
	if (!text_equal(attempt.purpose, "link"))
		return account_sign_in(req, res, &site, answer, attempt.return_path, err);
	saml_person(&provider, answer, &person, &groups);
	return link_finish(req, res, &person, &attempt, err);
}

int saml_auth_page(struct request *req, struct response *res, struct err *err)
{
	const char *code = query(req, "code");

	if (code)
		return finish(req, res, code, err);
	if (!sign_in_address_allowed(req))
		return too_many_show(req, res);
	return text_equal(purpose_of(req), "test") ? test_begin(req, res, err) : enabled_begin(req, res, err);
}
