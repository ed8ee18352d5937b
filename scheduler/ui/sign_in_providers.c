/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/sign_in_providers.h"

#include <string.h>

#include "scheduler/auth/saml/provider.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/access/organization_sso.h"
#include "scheduler/ui/return_path.h"

enum { PATH_LIMIT = 4096, MAX_DOMAIN = 253 };

char *sign_in_provider_path(const char *kind, const char *id, const char *back)
{
	struct buf path = BUF_INIT(PATH_LIMIT);

	if (text_equal(kind, SAML_PROVIDER))
		buf_text(&path, SAML_AUTH_PATH "?return=");
	else
		buf_printf(&path, "/oidc/%s/sign-in?return=", id);
	buf_url(&path, back);
	return buf_take(&path);
}

static void provider_link(struct page_buf *page, const struct identity_provider_row *row, const char *back)
{
	_cleanup_(freep) char *path = sign_in_provider_path(row->kind, row->id, back);

	page_html(page, "<p><a class=\"button\" href=\"");
	page_text(page, path);
	page_html(page, "\">Sign in with ");
	page_text(page, row->name);
	page_html(page, "</a></p>\n");
}

static bool lists_domains(const struct identity_provider_row *row)
{
	json_auto_t *settings = json_shown(row->settings);

	return json_array_size(json_object_get(settings, "domains")) > 0;
}

int sign_in_providers_show(struct page_buf *page, const struct request *req, const char *back, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool domains = false;

	if (identity_providers_enabled(req->store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		provider_link(page, row_of(identity_provider, &rows, i), back);
		domains |= lists_domains(row_of(identity_provider, &rows, i));
	}
	if (domains) {
		page_html(page, "<form method=\"post\" action=\"" SIGN_IN_PATH "/provider\">\n");
		page_input(page, "E-mail address at work", "address", "email",
			"autocomplete=\"email\" required maxlength=\"254\"");
		page_field(page, "return", back);
		page_html(page, "<button class=\"plain\">Find your identity provider</button>\n</form>\n");
	}
	return 0;
}

int sign_in_provider_farewell(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct identity_provider_row *provider;
	struct page_buf page;

	if (!req->actor.provider.text[0])
		return page_redirect(res, SIGN_IN_PATH);
	if (identity_provider_read(req->store, req->actor.provider.text, &rows, err) < 0)
		return -1;
	provider = row_of(identity_provider, &rows, 0);
	page_begin(&page, req, "You are signed out");
	page_html(&page, "<p>You are still signed in at <strong>");
	page_text(&page, provider->name);
	page_html(&page, "</strong>, so everybody who uses this browser can sign in here again.</p>\n");
	/* A provider of SAML that has single logout was chosen before (saml_logout_redirect). */
	if (text_equal(provider->kind, OIDC_PROVIDER))
		buf_printf(&page.html, "<p><a class=\"button\" href=\"/oidc/%s/sign-out\">Sign out there too</a></p>\n",
			provider->id);
	page_html(&page, "<p><a href=\"" SIGN_IN_PATH "\">Sign in again</a></p>\n");
	return page_send(&page, res, 200);
}

/* The form has the policy form-action 'self', which covers redirects too: a page comes between. */
static int provider_offer(
	struct request *req, struct response *res, const struct identity_provider_row *row, const char *back)
{
	struct page_buf page;

	page_begin(&page, req, "Sign in");
	provider_link(&page, row, back);
	return page_send(&page, res, 200);
}

int ui_sign_in_provider(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *at = strrchr(page_sent(req, "address"), '@');
	char domain[MAX_DOMAIN + 1];
	struct id provider = {""};

	text_copy_lower(domain, sizeof(domain), at ? at + 1 : "");
	if (*domain && provider_of_domain(req->store, domain, &provider, err) < 0)
		return -1;
	if (!provider.text[0])
		return page_say(req, res, 404, "Sign in",
			"No identity provider is known for this address. Ask an owner of your organization.");
	if (identity_provider_read(req->store, provider.text, &rows, err) < 0)
		return -1;
	return provider_offer(req, res, row_of(identity_provider, &rows, 0), return_path(page_sent(req, "return")));
}
