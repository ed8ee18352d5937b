/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_PAGE_H
#define SCHEDULER_UI_PAGE_H

/*
 * HTML pages that the server renders completely: one style sheet, and forms that work without scripts. page_shell is
 * the page of the web UI, which its script fills (web/). Texts of users must go through page_text or page_field, which
 * escape them. page_html does not escape: it is for constant text.
 */

#include "scheduler/api/api.h"

#define APP_PATH         "/app"
#define SIGN_IN_PATH     "/app/login"
#define PASSKEY_PATH     SIGN_IN_PATH "/passkey"
#define TOKENS_PATH      "/app/settings/tokens"
#define IDENTITIES_PATH  "/app/settings/identities"
#define INVITATIONS_PATH "/app/settings/invitations"

struct page_buf {
	struct buf html;
	const char *end; /* closes what the page's begin has opened */
};

/* Each begins a page. If req->actor is a user, its bar has the menu of the web UI. */
void page_begin(struct page_buf *page, const struct request *req, const char *title);
/* With a link to the page above it. Its path is encoded already. */
struct page_up {
	const char *path, *word;
};
void page_begin_below(struct page_buf *page, const struct request *req, const char *title, const struct page_up *up);
/* With the style sheet and the script of that name. The caller adds everything below the bar, with <main>. */
void page_begin_filled(struct page_buf *page, const struct request *req, const char *title, const char *name);
/* One of the user's settings, by the last part of its path, beside links to the others. */
void page_begin_settings(struct page_buf *page, const struct request *req, const char *key);
void page_html(struct page_buf *page, const char *html);
void page_text(struct page_buf *page, const char *text);
/* A text of a site admin, by its name in customization-settings, as a block of that class; nothing if it is empty. */
void page_site_text(struct page_buf *page, const char *name, const char *css_class);
/* A hidden field of a form. */
void page_field(struct page_buf *page, const char *name, const char *value);
/* "<label>Password <input ...></label>". `more` has further attributes, and is not escaped. */
void page_input(struct page_buf *page, const char *label, const char *name, const char *type, const char *more);
/* A text field with a value. */
void page_input_filled(struct page_buf *page, const char *label, const char *name, const char *value, const char *more);
/* The session's CSRF token as a hidden field. */
void page_csrf(struct page_buf *page, const struct request *req);
/* A script of the web UI, by its name (assets.h). */
void page_script(struct page_buf *page, const char *name);
/* "<meta name=... content=...>". The name is constant. */
void page_meta(struct page_buf *page, const char *name, const char *value);
/* Ends the page and answers with it. */
int page_send(struct page_buf *page, struct response *res, int status);
/* The same for the page whose form redirects to the listener of `terraform login`. */
int page_send_oauth(struct page_buf *page, struct response *res);
/* Answers with the page of the web UI, for the signed-in user. */
int page_shell(const struct request *req, struct response *res);

/* A paragraph with the role `alert` or `status`, and a cell of a table. */
void page_note(struct page_buf *page, const char *role, const char *text);
void page_cell(struct page_buf *page, const char *text);
/* A row of a table: a header and a cell. */
void page_fact(struct page_buf *page, const char *name, const char *value);
/* The day of a timestamptz column; `none` for null. */
void page_date(struct page_buf *page, const char *time, const char *none);

/* Answers with a page that shows one message. */
int page_say(const struct request *req, struct response *res, int status, const char *title, const char *text);
/* Redirects with 303, so that the browser uses GET. */
int page_redirect(struct response *res, const char *location);
/* The same to an address of any length, which is not checked: a provider's, or made by this server. */
int page_redirect_far(struct response *res, const char *url);

/* ---- the signed-in user ---- */

/* Fills req->actor with the signed-in user. Returns 1, or 0 if there is none. */
int page_user(struct request *req, struct err *err);
/* Ends the session of the user whom page_user has found, with an audit event; without a user it deletes the cookie
 * alone. The caller answers. */
int page_session_end(struct request *req, struct response *res, struct err *err);
/* Like page_user, for a page that needs a user. Without one it returns 0, and *res redirects to the sign-in page, which
 * then leads to `back`. */
int page_need_user(struct request *req, struct response *res, const char *back, struct err *err);
/* Returns 1; or 0, with a page in *res, while a site admin acts as the user. For matters of the account alone. */
int page_user_self(const struct request *req, struct response *res);
/* Every form's handler calls this first. 1 if a signed-in user sent the form; else the handler returns this value.
 * Without a user, *res redirects to the sign-in page, which then leads to `back`. A site admin who acts as the user
 * can't change the user's settings. */
int page_form_begin(struct request *req, struct response *res, const char *back, struct err *err);
/* Whether the form comes from a page of this server. If there is a session, the form must have its CSRF token. */
bool page_form_ours(const struct request *req);
/* A field of the form, never NULL. Borrowed. */
const char *page_sent(const struct request *req, const char *name);

#endif
