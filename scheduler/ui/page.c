/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/page.h"

#include "scheduler/api/api.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/api/request_audit.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/ui/assets.h"
#include "scheduler/ui/rich_text.h"

#define THEME_COOKIE "runyard_theme"

enum { PAGE_LIMIT = 1 << 20, MAX_COOKIE = 200 };

/* Scripts and styles come from this server alone. Scripts make HTML, and addresses of scripts, only by the named
 * policies of Trusted Types. */
#define SECURITY_POLICY(forms)                                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src " \
	"'self'; worker-src 'self'; form-action " forms "; base-uri 'none'; frame-ancestors 'none'; "                  \
	"require-trusted-types-for 'script'; trusted-types dompurify runyard"

static const char security_policy[] = SECURITY_POLICY("'self'");
/* The form of `terraform login` redirects to its listener on the browser's machine. */
static const char oauth_policy[] = SECURITY_POLICY("'self' http://localhost:*");

/* ---- pages ---- */

void page_html(struct page_buf *page, const char *html)
{
	buf_text(&page->html, html);
}

void page_text(struct page_buf *page, const char *text)
{
	static const struct {
		char letter;
		const char *shown;
	} special[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

	for (; *text; text++) {
		const char *shown = NULL;

		for (size_t i = 0; i < ARRAY_LEN(special); i++)
			if (*text == special[i].letter)
				shown = special[i].shown;
		buf_append(&page->html, shown ? shown : text, shown ? strlen(shown) : 1);
	}
}

void page_site_text(struct page_buf *page, const char *name, const char *css_class)
{
	_cleanup_(freep) char *text = site_text(name);

	if (!*text)
		return;
	buf_printf(&page->html, "<div class=\"%s\">", css_class);
	rich_text(&page->html, text);
	page_html(page, "</div>\n");
}

/* Texts that the web UI shows when it needs them (web/src/components/site_text.tsx). */
static void page_template(struct page_buf *page, const char *name)
{
	_cleanup_(freep) char *text = site_text(name);

	if (!*text)
		return;
	buf_printf(&page->html, "<template id=\"site-%s\">", name);
	rich_text(&page->html, text);
	page_html(page, "</template>\n");
}

void page_field(struct page_buf *page, const char *name, const char *value)
{
	page_html(page, "<input type=\"hidden\" name=\"");
	page_text(page, name);
	page_html(page, "\" value=\"");
	page_text(page, value);
	page_html(page, "\">\n");
}

static void input_begin(struct page_buf *page, const char *label, const char *name, const char *type, const char *more)
{
	page_html(page, "<label>");
	page_text(page, label);
	buf_printf(&page->html, " <input name=\"%s\" type=\"%s\" %s", name, type, more);
}

void page_input(struct page_buf *page, const char *label, const char *name, const char *type, const char *more)
{
	input_begin(page, label, name, type, more);
	page_html(page, "></label>\n");
}

void page_input_filled(struct page_buf *page, const char *label, const char *name, const char *value, const char *more)
{
	input_begin(page, label, name, "text", more);
	page_html(page, " value=\"");
	page_text(page, value);
	page_html(page, "\"></label>\n");
}

static const char *cookie_of(const struct request *req)
{
	const char *cookie = text_or_empty(http_cookie(req->http, SESSION_COOKIE));

	return strlen(cookie) <= MAX_COOKIE ? cookie : "";
}

void page_csrf(struct page_buf *page, const struct request *req)
{
	char token[SHA256_HEX_SIZE];

	session_csrf(req->store, cookie_of(req), token);
	page_field(page, "csrf", token);
}

static int document_send(struct page_buf *page, struct response *res, int status, const char *policy)
{
	http_add_header(res->http, "Content-Security-Policy", policy);
	http_add_header(res->http, "Referrer-Policy", "same-origin");
	http_add_header(res->http, "Cross-Origin-Opener-Policy", "same-origin");
	res->http->status = status;
	return respond_bytes(res, "text/html; charset=utf-8", &page->html);
}

/* The user's settings, as the web UI lists them (web/src/pages/user_settings/user_frame.tsx). */
static const struct settings_page {
	const char *key, *word;
} settings_pages[] = {
	{"tokens", "Tokens"},
	{"password", "Password"},
	{"identities", "Identity providers"},
	{"two-factor", "Two-factor authentication"},
	{"sessions", "Sessions"},
	{"invitations", "Invitations"},
	{"keyboard", "Keyboard"},
	{"theme", "Theme and times"},
};

static void settings_links(struct page_buf *page, const struct settings_page *shown)
{
	for (size_t i = 0; i < ARRAY_LEN(settings_pages); i++)
		buf_printf(&page->html, "<a href=\"/app/settings/%s\"%s>%s</a>\n", settings_pages[i].key,
			shown == &settings_pages[i] ? " aria-current=\"page\"" : "", settings_pages[i].word);
}

/* The menu of the web UI (web/src/shell/top_bar.tsx). The page's script closes it on Escape and on a click elsewhere.
 */
static void user_menu(struct page_buf *page, const struct request *req)
{
	page_html(page,
		"<span class=\"bar-end\"><a class=\"help\" href=\"/app/docs\">Help</a>\n<details "
		"class=\"menu\"><summary>");
	page_text(page, req->actor.username);
	page_html(page, "</summary>\n<div class=\"menu-items\">\n");
	settings_links(page, NULL);
	if (req->actor.is_site_admin)
		page_html(page, "<a href=\"/app/admin/organizations\">Site administration</a>\n");
	page_html(page, "<form method=\"post\" action=\"/app/logout\">\n");
	page_csrf(page, req);
	page_html(page, "<button class=\"plain\">Sign out</button></form></div></details></span>\n");
}

static void page_head(struct page_buf *page, const struct request *req)
{
	page_html(page, "<header class=\"bar\"><a class=\"brand\" href=\"" APP_PATH "\">Runyard</a>\n");
	if (req->actor.kind == ACTOR_USER) {
		page_html(page, "<nav aria-label=\"Site\"><a href=\"" APP_PATH "\">Organizations</a></nav>\n");
		user_menu(page, req);
	}
	page_html(page, "</header>\n");
}

/* The web UI has the same (web/src/shell/impersonation.tsx). */
static void impersonation_banner(struct page_buf *page, const struct request *req)
{
	if (!req->actor.impersonator.text[0])
		return;
	page_html(page, "<form class=\"impersonation\" method=\"post\" action=\"/app/admin/impersonation/end\">\n");
	page_csrf(page, req);
	page_html(page, "<p>You act as <strong>");
	page_text(page, req->actor.username);
	page_html(page, "</strong>. The audit trail names you, ");
	page_text(page, req->actor.impersonator_name);
	page_html(page, ", too.</p><button>Stop</button></form>\n");
}

/* The web UI replaces it by one that shows a state (web/src/core/title.ts). */
static const char icon[] =
	"<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
	"%3Crect width='32' height='32' rx='7' fill='%230b5cad'/%3E%3Cpath d='M9 24V8h8a5 5 0 0 1 1.5 9.8L23 24M9 "
	"18h8' "
	"fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E\">\n";

static void stylesheet(void *data, const struct asset *asset)
{
	buf_printf(data, "<link rel=\"stylesheet\" href=\"" ASSETS_PATH "/%s\">\n", asset->file);
}

static void script(void *data, const struct asset *asset)
{
	buf_printf(data, "<script type=\"module\" src=\"" ASSETS_PATH "/%s\"></script>\n", asset->file);
}

static void preload(void *data, const struct asset *asset)
{
	buf_printf(data, "<link rel=\"modulepreload\" href=\"" ASSETS_PATH "/%s\">\n", asset->file);
}

void page_script(struct page_buf *page, const char *name)
{
	assets_named(name, script, &page->html);
}

void page_meta(struct page_buf *page, const char *name, const char *value)
{
	buf_printf(&page->html, "<meta name=\"%s\" content=\"", name);
	page_text(page, value);
	page_html(page, "\">\n");
}

/* The cookie has the theme that the user chose in this browser. Without one, the style sheet follows the system. */
static const char *theme_attribute(const struct request *req)
{
	const char *theme = text_or_empty(http_cookie(req->http, THEME_COOKIE));

	if (text_equal(theme, "dark"))
		return " data-theme=\"dark\"";
	return text_equal(theme, "light") ? " data-theme=\"light\"" : "";
}

static void document_begin(struct page_buf *page, const struct request *req, const char *title)
{
	page->html = (struct buf)BUF_INIT(PAGE_LIMIT);
	buf_printf(&page->html,
		"<!doctype html>\n<html lang=\"en\"%s>\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
		theme_attribute(req));
	page_text(page, title);
	page_html(page, "</title>\n");
	page_html(page, icon);
	assets_named("app.css", stylesheet, &page->html);
}

/* `name`: a style sheet and a script in addition; NULL: none. */
static void body_begin_with(struct page_buf *page, const struct request *req, const char *title, const char *name)
{
	_cleanup_(freep) char *full = mem_printf("%s · Runyard", title);
	_cleanup_(freep) char *style_name = name ? mem_printf("%s.css", name) : NULL;
	_cleanup_(freep) char *script_name = name ? mem_printf("%s.js", name) : NULL;

	document_begin(page, req, full);
	if (name) {
		assets_named(style_name, stylesheet, &page->html);
		page_script(page, script_name);
	}
	if (req->actor.kind == ACTOR_USER)
		page_script(page, "server_page.js"); /* of the menu */
	page_html(page, "</head>\n<body>\n");
	page_head(page, req);
	impersonation_banner(page, req);
}

static void body_begin(struct page_buf *page, const struct request *req, const char *title)
{
	body_begin_with(page, req, title, NULL);
}

void page_begin_filled(struct page_buf *page, const struct request *req, const char *title, const char *name)
{
	body_begin_with(page, req, title, name);
	page->end = "";
}

static void page_heading(struct page_buf *page, const char *title)
{
	page_html(page, "<h1>");
	page_text(page, title);
	page_html(page, "</h1>\n");
}

/* `up` is NULL for a page without a link. */
static void page_breadcrumb(struct page_buf *page, const struct page_up *up, const char *word, const char *title)
{
	page_html(page, "<nav class=\"breadcrumb\" aria-label=\"Breadcrumb\"><ol><li>");
	if (up) {
		page_html(page, "<a href=\"");
		page_text(page, up->path);
		page_html(page, "\">");
		page_text(page, up->word);
		page_html(page, "</a>");
	} else {
		page_text(page, word);
	}
	page_html(page, "</li><li><span aria-current=\"page\">");
	page_text(page, title);
	page_html(page, "</span></li></ol></nav>\n");
}

void page_begin(struct page_buf *page, const struct request *req, const char *title)
{
	body_begin(page, req, title);
	page_html(page, "<main class=\"form-page\">\n");
	page_heading(page, title);
	page->end = "</main>\n";
}

void page_begin_below(struct page_buf *page, const struct request *req, const char *title, const struct page_up *up)
{
	body_begin(page, req, title);
	page_html(page, "<main>\n");
	page_breadcrumb(page, up, NULL, title);
	page_html(page, "<div class=\"form-page wide-page\">\n");
	page_heading(page, title);
	page->end = "</div>\n</main>\n";
}

void page_begin_settings(struct page_buf *page, const struct request *req, const char *key)
{
	const struct settings_page *shown = settings_pages;

	while (!text_equal(shown->key, key))
		shown++;
	body_begin(page, req, shown->word);
	page_html(page, "<main>\n");
	page_breadcrumb(page, NULL, "Your settings", shown->word);
	page_html(page, "<div class=\"settings\">\n<nav class=\"settings-nav\" aria-label=\"Your settings\">\n");
	settings_links(page, shown);
	page_html(page, "</nav>\n<div class=\"settings-body form-page\">\n");
	page_heading(page, shown->word);
	page->end = "</div>\n</div>\n</main>\n";
}

/* The CSRF token, the user and the build are for the script (web/src/core/session.ts). */
int page_shell(const struct request *req, struct response *res)
{
	char token[SHA256_HEX_SIZE];
	struct page_buf page;

	session_csrf(req->store, cookie_of(req), token);
	document_begin(&page, req, "Runyard");
	page_meta(&page, "csrf", token);
	page_meta(&page, "user-id", req->actor.user.text);
	page_meta(&page, "username", req->actor.username);
	page_meta(&page, "impersonator", req->actor.impersonator_name);
	page_meta(&page, "site-admin", req->actor.is_site_admin ? "true" : "");
	page_meta(&page, "build", assets_build());
	assets_named("preload", preload, &page.html);
	page_script(&page, "app.js");
	page_html(&page, "</head>\n<body>\n<div id=\"app\"></div>\n");
	page_template(&page, "new-user");
	page_template(&page, "error");
	page_site_text(&page, "footer", "site-footer");
	page_html(&page,
		"<noscript><main class=\"form-page\"><h1>Runyard</h1><p>These pages need JavaScript. The API and "
		"<a href=\"" TOKENS_PATH "\">your settings</a> work without it.</p></main></noscript>\n"
		"</body>\n</html>\n");
	return document_send(&page, res, 200, security_policy);
}

static void page_end(struct page_buf *page)
{
	page_html(page, page->end);
	page_site_text(page, "footer", "site-footer");
	page_html(page, "</body>\n</html>\n");
}

int page_send(struct page_buf *page, struct response *res, int status)
{
	page_end(page);
	return document_send(page, res, status, security_policy);
}

int page_send_oauth(struct page_buf *page, struct response *res)
{
	page_end(page);
	return document_send(page, res, 200, oauth_policy);
}

void page_note(struct page_buf *page, const char *role, const char *text)
{
	buf_printf(&page->html, "<p role=\"%s\">", role);
	page_text(page, text);
	page_html(page, "</p>\n");
}

void page_cell(struct page_buf *page, const char *text)
{
	page_html(page, "<td>");
	page_text(page, text);
	page_html(page, "</td>");
}

void page_fact(struct page_buf *page, const char *name, const char *value)
{
	page_html(page, "<tr><th scope=\"row\">");
	page_text(page, name);
	page_html(page, "</th>");
	page_cell(page, value);
	page_html(page, "</tr>\n");
}

void page_date(struct page_buf *page, const char *time, const char *none)
{
	char day[11];

	text_copy(day, sizeof(day), time ? time : none);
	page_text(page, day);
}

int page_say(const struct request *req, struct response *res, int status, const char *title, const char *text)
{
	struct page_buf page;

	page_begin(&page, req, title);
	page_note(&page, status < 400 ? "status" : "alert", text);
	if (status >= 500)
		page_site_text(&page, "error", "site-text");
	return page_send(&page, res, status);
}

int page_redirect(struct response *res, const char *location)
{
	text_copy(res->http->location, sizeof(res->http->location), location);
	return respond_empty(res, 303);
}

int page_redirect_far(struct response *res, const char *url)
{
	res->http->status = 303;
	http_add_header(res->http, "Location", url);
	http_add_header(res->http, "Cache-Control", "no-store");
	return 0;
}

/* ---- the signed-in user ---- */

int page_user(struct request *req, struct err *err)
{
	const char *cookie = cookie_of(req);

	if (!*cookie)
		return 0;
	if (actor_of_session(req->store, cookie, &req->actor, err) == 0)
		return 1;
	return err->kind == ERR_UNAUTHORIZED ? 0 : -1;
}

int page_session_end(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *header = session_set_cookie(req->store, NULL);

	if (req->actor.kind == ACTOR_USER &&
		(request_audit_begin(req, err) < 0 ||
			session_delete(req->store, http_cookie(req->http, SESSION_COOKIE), err) < 0 ||
			request_audit_write(req, "sign_out", "session", req->actor.user.text, err) < 0))
		return -1;
	http_add_header(res->http, "Set-Cookie", header);
	req->actor.kind = ACTOR_NONE;
	return 0;
}

int page_need_user(struct request *req, struct response *res, const char *back, struct err *err)
{
	int allowed = page_user(req, err);
	struct buf location = BUF_INIT(sizeof(res->http->location) - 1);

	if (allowed != 0)
		return allowed;
	buf_text(&location, SIGN_IN_PATH "?return=");
	buf_url(&location, back);
	page_redirect(res, buf_str(&location));
	buf_release(&location);
	return 0;
}

/* Browsers send the origin of a form. A client that sends none is not a browser, so no other site can make it send a
 * cookie. */
static bool origin_ours(const struct request *req)
{
	const char *origin = http_header(req->http, "Origin"), *site = http_header(req->http, "Sec-Fetch-Site");

	if (site && !text_equal(site, "same-origin") && !text_equal(site, "none"))
		return false;
	return !origin || text_equal(origin, req->store->settings->public_url) || text_equal(site, "same-origin");
}

bool page_form_ours(const struct request *req)
{
	const char *cookie = cookie_of(req);

	if (!origin_ours(req))
		return false;
	return req->actor.kind != ACTOR_USER || session_csrf_valid(req->store, cookie, page_sent(req, "csrf"));
}

int page_user_self(const struct request *req, struct response *res)
{
	if (!req->actor.impersonator.text[0])
		return 1;
	return page_say(req, res, 403, "Not as another user",
		"While you act as another user, you can't see or change how they sign in.");
}

int page_form_begin(struct request *req, struct response *res, const char *back, struct err *err)
{
	int allowed = page_need_user(req, res, back, err);

	if (allowed > 0 && !page_form_ours(req)) {
		page_say(req, res, 403, "Not from here", "The form was sent from another site.");
		return 0;
	}
	if (allowed > 0 && text_starts(req->route->pattern, "/app/settings/"))
		return page_user_self(req, res);
	return allowed;
}

const char *page_sent(const struct request *req, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(req->body, name)));
}
