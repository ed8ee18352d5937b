/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/access/password.h"
#include "scheduler/api/access/tokens.h"
#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/tokens.h"
#include "scheduler/auth/tokens.sql.h"
#include "scheduler/ui/page.h"

/* Settings of the signed-in user: tokens and the password. `terraform login` without OAuth leads to the tokens page
 * too. */

#define PASSWORD_PATH "/app/settings/password"

enum { TOKENS_SHOWN = 100, MAX_DESCRIPTION = 512, MAX_DAYS = 3650 };

/* ---- tokens ---- */

static void token_scope(struct page_buf *page, const struct token_row *token)
{
	page_html(page, "<td>");
	page_text(page, token->read_only ? "Only reads" : "All");
	if (token->workspace_id) {
		page_html(page, " in ");
		page_text(page, token->workspace_id);
	}
	page_html(page, "</td>");
}

static void token_show(struct page_buf *page, const struct request *req, const struct token_row *token)
{
	page_html(page, "<tr>");
	page_cell(page, token->description);
	token_scope(page, token);
	page_html(page, "<td class=\"wide\">");
	page_date(page, token->created_at, "");
	page_html(page, "</td><td class=\"wide\">");
	page_date(page, token->last_used_at, "never");
	page_html(page, "</td><td><span class=\"narrow\">Expires: </span>");
	page_date(page, token->expired_at, "never");
	page_html(page, "</td>");
	buf_printf(&page->html, "<td><form class=\"inline\" method=\"post\" action=\"" TOKENS_PATH "/%s/revoke\">",
		token->id);
	page_csrf(page, req);
	page_html(page, "<button class=\"plain\" aria-label=\"Revoke ");
	page_text(page, token->description);
	page_html(page, "\">Revoke</button></form></td></tr>\n");
}

/* The values in the form of a new token. A refused form is shown as it was sent: without its tick, the next token could
 * do everything. */
struct token_fields {
	const char *description, *days, *workspace;
	bool read_only;
};

static struct token_fields fields_sent(const struct request *req)
{
	return (struct token_fields){.description = page_sent(req, "description"),
		.days = page_sent(req, "days"),
		.workspace = page_sent(req, "workspace"),
		.read_only = text_equal(page_sent(req, "read-only"), "yes")};
}

static void days_select(struct page_buf *page, const char *chosen)
{
	static const char *const choices[][2] = {
		{"30", "30 days"}, {"90", "90 days"}, {"365", "one year"}, {"730", "two years"}};

	page_html(page, "<label>Valid for <select name=\"days\">");
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		buf_printf(&page->html, "<option value=\"%s\"%s>%s</option>", choices[i][0],
			text_equal(choices[i][0], chosen) ? " selected" : "", choices[i][1]);
	page_html(page, "</select></label>\n");
}

static void token_form(struct page_buf *page, const struct request *req, const struct token_fields *fields)
{
	page_html(page, "<h2>New token</h2>\n<form method=\"post\" action=\"" TOKENS_PATH "\">\n");
	page_csrf(page, req);
	page_input_filled(page, "Description", "description", fields->description, "required maxlength=\"512\"");
	days_select(page, fields->days);
	buf_printf(&page->html,
		"<label><input type=\"checkbox\" name=\"read-only\" value=\"yes\"%s> Only reads</label>\n",
		fields->read_only ? " checked" : "");
	page_input_filled(page, "Only this workspace (its id, such as ws-…; empty: all that you see)", "workspace",
		fields->workspace, "maxlength=\"64\" pattern=\"ws-[A-Za-z0-9]+\"");
	page_html(page, "<button class=\"primary\">Create token</button>\n</form>\n");
}

struct tokens_answer {
	int status;
	const char *created; /* the new token, or NULL */
	const char *wrong;   /* what is wrong with the form, or NULL */
};

static int tokens_page(struct request *req, struct response *res, const struct tokens_answer *answer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct token_fields fields = answer->wrong
		? fields_sent(req)
		: (struct token_fields){.description = "", .days = "90", .workspace = ""};
	struct token_list list = {.user_id = req->actor.user.text, .limit = TOKENS_SHOWN};
	struct page_buf page;

	if (tokens_list(req->store, &list, &rows, err) < 0)
		return -1;
	page_begin_settings(&page, req, "tokens");
	if (answer->wrong)
		page_note(&page, "alert", answer->wrong);
	if (answer->created) {
		page_html(&page, "<p role=\"status\">This is the new token. It is shown this once:<br><code>");
		page_text(&page, answer->created);
		page_html(&page, "</code></p>\n");
	}
	page_html(&page,
		"<p>A token lets a program do here what you may do, or only a part of it.</p>\n"
		"<table class=\"rows stack\"><thead><tr><th scope=\"col\">Description</th><th scope=\"col\">May</th>"
		"<th scope=\"col\" class=\"wide\">Created</th><th scope=\"col\" class=\"wide\">Last used</th>"
		"<th scope=\"col\">Expires</th><td></td></tr></thead>\n<tbody>\n");
	for (int i = 0; i < rows.count && row_of(token, &rows, i)->id; i++)
		token_show(&page, req, row_of(token, &rows, i));
	page_html(&page, "</tbody></table>\n");
	token_form(&page, req, &fields);
	return page_send(&page, res, answer->status);
}

int ui_tokens_page(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_need_user(req, res, TOKENS_PATH, err);

	return allowed > 0 ? tokens_page(req, res, &(struct tokens_answer){.status = 200}, err) : allowed;
}

int ui_tokens_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *token = NULL;
	const struct token_fields fields = fields_sent(req);
	struct err unseen = ERR_INIT;
	char expiry[32];
	struct token_order order = {.description = fields.description, .expires_at = expiry};
	long long days;
	struct id id;
	int allowed = page_form_begin(req, res, TOKENS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (!*fields.description || strlen(fields.description) > MAX_DESCRIPTION ||
		text_number(fields.days, 1, MAX_DAYS, &days) < 0)
		return tokens_page(req, res,
			&(struct tokens_answer){
				.status = 422, .wrong = "A description and a number of days are needed for a token."},
			err);
	if (*fields.workspace && token_workspace_visible(req, fields.workspace, &unseen) < 0)
		return tokens_page(req, res,
			&(struct tokens_answer){
				.status = 422, .wrong = "There is no such workspace, or you do not see it."},
			err);
	token_expiry(days, expiry);
	order.user_id = order.created_by = req->actor.user.text;
	order.read_only = fields.read_only;
	order.workspace_id = text_or_null(fields.workspace);
	order.provider_id = req->actor.provider.text;
	if (request_audit_begin(req, err) < 0 || token_create(req->store, &order, &token, &id, err) < 0 ||
		request_audit_write(req, "create", "authentication_token", id.text, err) < 0)
		return -1;
	return tokens_page(req, res, &(struct tokens_answer){.status = 201, .created = token}, err);
}

int ui_tokens_revoke(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "token");
	int allowed = page_form_begin(req, res, TOKENS_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (token_read(req->store, id, &rows, err) < 0 && err->kind != ERR_NOT_FOUND)
		return -1;
	if (!rows.count || !text_equal(row_of(token, &rows, 0)->user_id, req->actor.user.text))
		return page_say(req, res, 404, "No such token", "It is revoked already, or it is not yours.");
	if (request_audit_begin(req, err) < 0 || token_delete(req->store, id, err) < 0 ||
		request_audit_write(req, "destroy", "authentication_token", id, err) < 0)
		return -1;
	return page_redirect(res, TOKENS_PATH);
}

/* ---- the password ---- */

static int password_show(
	const struct request *req, struct response *res, int status, const char *done, const char *wrong)
{
	struct page_buf page;

	page_begin_settings(&page, req, "password");
	if (done)
		page_note(&page, "status", done);
	if (wrong)
		page_note(&page, "alert", wrong);
	page_html(&page, "<form method=\"post\" action=\"" PASSWORD_PATH "\">\n");
	page_csrf(&page, req);
	page_html(&page, "<input hidden autocomplete=\"username\" value=\""); /* for password managers; not sent */
	page_text(&page, req->actor.username);
	page_html(&page, "\">\n");
	page_input(&page, "Current password", "current_password", "password",
		"autocomplete=\"current-password\" required maxlength=\"256\"");
	page_input(&page, "New password", "password", "password",
		"autocomplete=\"new-password\" required minlength=\"10\" maxlength=\"256\"");
	page_input(&page, "New password, again", "password_confirmation", "password",
		"autocomplete=\"new-password\" required minlength=\"10\" maxlength=\"256\"");
	page_html(&page, "<button class=\"primary\">Change password</button>\n</form>\n");
	return page_send(&page, res, status);
}

int ui_password_page(struct request *req, struct response *res, struct err *err)
{
	int allowed = page_need_user(req, res, PASSWORD_PATH, err);

	return allowed > 0 ? password_show(req, res, 200, NULL, NULL) : allowed;
}

int ui_password_set(struct request *req, struct response *res, struct err *err)
{
	const struct password_change change = {.current = page_sent(req, "current_password"),
		.wanted = page_sent(req, "password"),
		.again = page_sent(req, "password_confirmation")};
	int allowed = page_form_begin(req, res, PASSWORD_PATH, err);

	if (allowed <= 0)
		return allowed;
	if (password_change(req, &change, err) == 0 &&
		request_audit_write(req, "update", "account", req->actor.user.text, err) == 0)
		return password_show(req, res, 200, "The password is changed. Other browsers are signed out.", NULL);
	if (err->kind != ERR_INVALID && err->kind != ERR_BUSY)
		return -1;
	return password_show(req, res, err_http_status(err->kind), NULL, err->message);
}
