/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/page.h"

#include "scheduler/api/api.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/auth/sessions.h"

enum { PAGE_LIMIT = 1 << 20, MAX_COOKIE = 200 };

/* Forms may redirect to the listener of `terraform login` on the browser's machine. */
static const char security_policy[] = "default-src 'none'; style-src 'self'; form-action 'self' http://localhost:*; "
				      "frame-ancestors 'none'; base-uri 'none'";

static const char style[] =
	":root { color-scheme: light dark; --line: #8886; --accent: #5b4bd6; --on: #fff }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 1rem }\n"
	"header { display: flex; justify-content: space-between; align-items: center; border-bottom: 1px solid "
	"var(--line) }\n"
	"main { margin-top: 2rem } h1 { font-size: 1.5rem }\n"
	"label { display: block; margin: 1rem 0 } label small { display: block }\n"
	"input, select { display: block; width: 100%; max-width: 24rem; box-sizing: border-box; font: inherit; "
	"padding: .5rem; border: 1px solid var(--line); border-radius: .25rem }\n"
	"button { font: inherit; padding: .5rem 1rem; border: 1px solid var(--accent); border-radius: .25rem; "
	"background: var(--accent); color: var(--on); cursor: pointer }\n"
	"button.plain { background: none; color: inherit; border-color: var(--line) }\n"
	":focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }\n"
	"table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .5rem; border-bottom: "
	"1px solid var(--line) }\n"
	"[role=alert], [role=status] { border-left: 4px solid var(--accent); padding: .5rem 1rem; margin: 1rem 0 }\n"
	"code { overflow-wrap: anywhere; font-size: 1.05em } form.inline { display: inline }\n";

int ui_style(struct request *req, struct response *res, struct err *err)
{
	struct buf text = BUF_INIT(PAGE_LIMIT);

	(void)req;
	(void)err;
	buf_text(&text, style);
	return respond_bytes(res, "text/css; charset=utf-8", &text);
}

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

void page_field(struct page_buf *page, const char *name, const char *value)
{
	page_html(page, "<input type=\"hidden\" name=\"");
	page_text(page, name);
	page_html(page, "\" value=\"");
	page_text(page, value);
	page_html(page, "\">\n");
}

void page_input(struct page_buf *page, const char *label, const char *name, const char *type, const char *more)
{
	page_html(page, "<label>");
	page_text(page, label);
	buf_printf(&page->html, " <input name=\"%s\" type=\"%s\" %s></label>\n", name, type, more);
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

static void page_head(struct page_buf *page, const struct request *req)
{
	page_html(page, "<header><strong>Runyard</strong>");
	if (req->actor.kind == ACTOR_USER) {
		page_html(page, "<form method=\"post\" action=\"/app/logout\" class=\"inline\">");
		page_csrf(page, req);
		page_text(page, req->actor.username);
		page_html(page, " <button class=\"plain\">Sign out</button></form>");
	}
	page_html(page, "</header>\n<main>\n");
}

void page_begin(struct page_buf *page, const struct request *req, const char *title)
{
	page->html = (struct buf)BUF_INIT(PAGE_LIMIT);
	page_html(page,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<link rel=\"stylesheet\" href=\"/app/style.css\">\n<title>");
	page_text(page, title);
	page_html(page, " - Runyard</title>\n</head>\n<body>\n");
	page_head(page, req);
	page_html(page, "<h1>");
	page_text(page, title);
	page_html(page, "</h1>\n");
}

int page_send(struct page_buf *page, struct response *res, int status)
{
	page_html(page, "</main>\n</body>\n</html>\n");
	http_add_header(res->http, "Content-Security-Policy", security_policy);
	http_add_header(res->http, "Referrer-Policy", "no-referrer");
	res->http->status = status;
	return respond_bytes(res, "text/html; charset=utf-8", &page->html);
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

void page_cell_day(struct page_buf *page, const struct rows *rows, int row, const char *column, const char *none)
{
	char day[11];

	text_copy(day, sizeof(day), row_text(rows, row, column) ? row_text(rows, row, column) : none);
	page_cell(page, day);
}

int page_say(const struct request *req, struct response *res, int status, const char *title, const char *text)
{
	struct page_buf page;

	page_begin(&page, req, title);
	page_html(&page, "<p role=\"alert\">");
	page_text(&page, text);
	page_html(&page, "</p>\n");
	return page_send(&page, res, status);
}

int page_redirect(struct response *res, const char *location)
{
	text_copy(res->http->location, sizeof(res->http->location), location);
	return respond_empty(res, 303);
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

int page_form_begin(struct request *req, struct response *res, const char *back, struct err *err)
{
	int allowed = page_need_user(req, res, back, err);

	if (allowed > 0 && !page_form_ours(req)) {
		page_say(req, res, 403, "Not from here", "The form was sent from another site.");
		return 0;
	}
	return allowed;
}

const char *page_sent(const struct request *req, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(req->body, name)));
}
