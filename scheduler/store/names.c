/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/names.h"

#include <string.h>
#include <strings.h>

enum { MAX_NAME = 90 };

static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int name_check(const char *attribute, const char *pointer, const char *name, struct err *err)
{
	const char *at = text_or_empty(pointer);

	if (!name || !*name)
		return err_at(err, at, "%s can't be blank", attribute);
	if (strlen(name) > MAX_NAME)
		return err_at(err, at, "%s is too long (maximum is %d characters)", attribute, MAX_NAME);
	if (name[strspn(name, allowed)])
		return err_at(err, at, "%s may only contain letters, numbers, underscores and hyphens", attribute);
	return 0;
}

void username_make(const char *from, char ret_name[USERNAME_SIZE])
{
	size_t len = 0;

	for (; *from && *from != '@' && len < USERNAME_SIZE - 1; from++) {
		bool fits = *from != '-' && strchr(allowed, *from);

		if (fits || (len && ret_name[len - 1] != '-'))
			ret_name[len++] = fits ? *from : '-';
	}
	while (len && ret_name[len - 1] == '-')
		len--;
	ret_name[len] = '\0';
	if (!len)
		text_copy(ret_name, USERNAME_SIZE, "user");
}

/* Words that stand in an organization's place in the addresses of pages (api/routes.def). */
static const char *const reserved[] = {
	"admin", "docs", "invitations", "login", "logout", "runs", "settings", "workspaces"};

int name_check_reserved(const char *attribute, const char *pointer, const char *name, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
		if (strcasecmp(name, reserved[i]) == 0)
			return err_at(err, text_or_empty(pointer), "%s %s is reserved", attribute, name);
	return 0;
}

int value_taken(struct store *store, const char *index, const char *what, const char *pointer, struct err *err)
{
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), index))
		return err_at(err, pointer, "%s has already been taken", what);
	return -1;
}

int name_taken(struct store *store, const char *index, struct err *err)
{
	return value_taken(store, index, "Name", "/data/attributes/name", err);
}
