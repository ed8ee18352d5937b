/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_VCS_PAGES_H
#define SCHEDULER_UI_VCS_PAGES_H

/* Parts of the pages that connect VCS providers. */

#include "scheduler/ui/page.h"

/* Proves that this session was asked on the page of that path. It is no CSRF token, since it is in an address. */
void vcs_page_proof(const struct request *req, const char *path, char ret_proof[SHA256_HEX_SIZE]);
/* True if the page at the path must ask the user before it redirects to the provider. */
bool vcs_page_asks(const struct request *req, const char *path);
/* The link with which the user agrees: it leads to the path again. `word` names the provider. */
void vcs_page_answer(struct page_buf *page, const struct request *req, const char *path, const char *word);
/* page_need_user for such a page. After the sign-in it asks. */
int vcs_page_need_user(struct request *req, struct response *res, const char *path, struct err *err);
/* Redirects to the provider. */
int vcs_page_redirect(const struct request *req, struct response *res, const char *url);
/* Redirects to the organization's page of connections. `outcome` is its query. */
int vcs_page_settings(struct response *res, const char *organization, const char *outcome);

#endif
