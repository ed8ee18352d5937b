/* SPDX-License-Identifier: MPL-2.0 */
/* The commands that make and change users. */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/access/emails.h"
#include "scheduler/auth/account/break_glass.h"
#include "scheduler/auth/bootstrap.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/commands/command.h"

int command_bootstrap(struct scheduler *s, const struct command_line *line, struct err *err)
{
	const struct bootstrap_order order = {
		.username = line->arguments[0], .email = line->arguments[1], .organization = line->arguments[2]};
	json_auto_t *result = NULL;

	if (scheduler_database_ready(s, err) < 0 || bootstrap(&s->store, &order, &result, err) < 0)
		return -1;
	command_print_json(result);
	return 0;
}

int command_add_user(struct scheduler *s, const struct command_line *line, struct err *err)
{
	json_auto_t *result = NULL;

	if (email_check(line->arguments[1], err) < 0 || scheduler_database_ready(s, err) < 0 ||
		user_add(&s->store, line->arguments[0], line->arguments[1], &result, err) < 0)
		return -1;
	command_print_json(result);
	return 0;
}

/* Reads the password from standard input: every user of the machine could read an argument. */
int command_set_password(struct scheduler *s, const struct command_line *line, struct err *err)
{
	char password[MAX_PASSWORD + 2] = "";
	bool read;

	read = fgets(password, sizeof(password), stdin) != NULL;
	password[strcspn(password, "\r\n")] = '\0';
	if (!read || password_check(NULL, password, err) < 0)
		return read ? -1 : err_set(err, ERR_INVALID, "there is no password on standard input");
	return scheduler_database_ready(s, err) < 0 ? -1
						    : password_set_for(&s->store, line->arguments[0], password, err);
}

int command_break_glass(struct scheduler *s, const struct command_line *line, struct err *err)
{
	const char *wanted = line->arguments[1];

	if (!text_equal(wanted, "on") && !text_equal(wanted, "off"))
		return command_usage(line, err);
	if (scheduler_database_ready(s, err) < 0)
		return -1;
	return break_glass_set_for(&s->store, line->arguments[0], text_equal(wanted, "on"), err);
}
