/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/identity/identities.h"
#include "scheduler/auth/identity/identities.sql.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/ui/page.h"
#include "scheduler/ui/saml/saml.h"

/* The identity providers through which the signed-in user can sign in. */

static void identity_show(struct page_buf *page, const struct request *req, const struct identity_row *identity)
{
	page_html(page, "<tr>");
	page_cell(page, text_or_empty(identity->provider_name ? identity->provider_name : identity->issuer));
	page_cell(page, identity->subject);
	page_html(page, "<td>");
	page_date(page, identity->last_sign_in_at, "");
	page_html(page, "</td><td>");
	if (identity->provider_id) {
		buf_printf(&page->html,
			"<form class=\"inline\" method=\"post\" action=\"" IDENTITIES_PATH "/%s/unlink\">",
			identity->provider_id);
		page_csrf(page, req);
		page_html(page, "<button class=\"plain\">Unlink</button></form>");
	}
	page_html(page, "</td></tr>\n");
}

static void link_show(struct page_buf *page, const struct identity_provider_row *provider)
{
	if (text_equal(provider->kind, SAML_PROVIDER))
		page_html(page, "<p><a class=\"button\" href=\"" SAML_LINK_PATH "\">Link ");
	else
		buf_printf(&page->html, "<p><a class=\"button\" href=\"/oidc/%s/sign-in?purpose=link\">Link ",
			provider->id);
	page_text(page, provider->name);
	page_html(page, "</a></p>\n");
}

static int identities_show(struct request *req, struct response *res, int status, const char *wrong, struct err *err)
{
	_cleanup_(rows_release) struct rows own = ROWS_INIT, providers = ROWS_INIT;
	struct page_buf page;

	if (identities_of_user(req->store, req->actor.user.text, &own, err) < 0 ||
		identity_providers_enabled(req->store, &providers, err) < 0)
		return -1;
	page_begin_settings(&page, req, "identities");
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page,
		"<p>You can sign in here through these accounts at identity providers.</p>\n"
		"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Provider</th><th scope=\"col\">Account</th>"
		"<th scope=\"col\">Last sign-in</th><td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < own.count; i++)
		identity_show(&page, req, row_of(identity, &own, i));
	page_html(&page, "</tbody></table>\n");
	for (int i = 0; i < providers.count; i++)
		link_show(&page, row_of(identity_provider, &providers, i));
	return page_send(&page, res, status);
}

int ui_identities_page(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_need_user(req, res, IDENTITIES_PATH, err);

	return allowed > 0 ? identities_show(req, res, 200, NULL, err) : allowed;
}

int ui_identities_unlink(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_form_begin(req, res, IDENTITIES_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (request_audit_begin(req, err) < 0)
		return -1;
	if (identity_unlink(req->store, req->actor.user.text, param(req, "provider"), err) == 0 &&
		request_audit_write(req, "unlink", "identity", param(req, "provider"), err) == 0)
		return page_redirect(res, IDENTITIES_PATH);
	if (err->kind != ERR_INVALID)
		return -1;
	return identities_show(req, res, 422, err->message, err);
}
