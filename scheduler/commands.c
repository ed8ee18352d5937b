/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/api/access/emails.h"
#include "scheduler/auth/bootstrap.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/intake/dead_letters_command.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/holds.h"

static int command_migrate(struct scheduler *s, int argc, char **argv, struct err *err)
{
	(void)argc;
	(void)argv;
	return scheduler_database_ready(s, err);
}

static int command_bootstrap(struct scheduler *s, int argc, char **argv, struct err *err)
{
	struct bootstrap_order order;
	json_auto_t *result = NULL;

	if (argc != 4)
		return err_set(err, ERR_INVALID, "usage: runyard-scheduler bootstrap USER EMAIL ORGANIZATION");
	order = (struct bootstrap_order){.username = argv[1], .email = argv[2], .organization = argv[3]};
	if (scheduler_database_ready(s, err) < 0 || bootstrap(&s->store, &order, &result, err) < 0)
		return -1;
	_cleanup_(freep) char *text = json_text(result);
	printf("%s\n", text);
	return 0;
}

static int command_add_user(struct scheduler *s, int argc, char **argv, struct err *err)
{
	json_auto_t *result = NULL;

	if (argc != 3)
		return err_set(err, ERR_INVALID, "usage: runyard-scheduler add-user USER EMAIL");
	if (email_check(argv[2], err) < 0 || scheduler_database_ready(s, err) < 0 ||
		user_add(&s->store, argv[1], argv[2], &result, err) < 0)
		return -1;
	_cleanup_(freep) char *text = json_text(result);
	printf("%s\n", text);
	return 0;
}

/* Reads the password from standard input: every user of the machine could read an argument. */
static int command_set_password(struct scheduler *s, int argc, char **argv, struct err *err)
{
	char password[MAX_PASSWORD + 2] = "";
	bool read;

	if (argc != 2)
		return err_set(err, ERR_INVALID,
			"usage: runyard-scheduler set-password USER  (the password is read "
			"from standard input)");
	read = fgets(password, sizeof(password), stdin) != NULL;
	password[strcspn(password, "\r\n")] = '\0';
	if (!read || password_check(NULL, password, err) < 0)
		return read ? -1 : err_set(err, ERR_INVALID, "there is no password on standard input");
	return scheduler_database_ready(s, err) < 0 ? -1 : password_set_for(&s->store, argv[1], password, err);
}

static int command_holds(struct scheduler *s, int argc, char **argv, struct err *err)
{
	if (argc == 1)
		return holds_print(&s->store, err);
	if (argc < 3 || argc > 4 || !text_equal(argv[1], "release"))
		return err_set(err, ERR_INVALID, "usage: runyard-scheduler holds [release WORKSPACE [WHY]]");
	return holds_release(&s->store, argv[2], argc == 4 ? argv[3] : NULL, err);
}

/* For an operator who restored the database in a way that its history does not show. */
static int command_new_epoch(struct scheduler *s, int argc, char **argv, struct err *err)
{
	(void)argc;
	(void)argv;
	return scheduler_database_ready(s, err) < 0 ? -1 : epoch_begin(&s->store, err);
}

static int command_dead_letters(struct scheduler *s, int argc, char **argv, struct err *err)
{
	return dead_letters_command(&s->store, argc, argv, err);
}

static const struct command {
	const char *name;
	int (*run)(struct scheduler *s, int argc, char **argv, struct err *err);
	bool has_arguments, has_options;
} commands[] = {
	{"serve", scheduler_serve, false, false},
	{"migrate", command_migrate, false, false},
	{"bootstrap", command_bootstrap, true, false},
	{"add-user", command_add_user, true, false},
	{"set-password", command_set_password, true, false},
	{"holds", command_holds, true, false},
	{"new-epoch", command_new_epoch, false, false},
	{"dead-letters", command_dead_letters, true, true},
};

static int command_check(const struct command *command, int argc, char **argv, struct err *err)
{
	for (int i = 1; i < argc && !command->has_options; i++)
		if (text_starts(argv[i], "--"))
			return err_set(err, ERR_INVALID,
				"the option %s stands after the command: runyard-scheduler [options] %s", argv[i],
				command->name);
	if (argc > 1 && !command->has_arguments)
		return err_set(err, ERR_INVALID, "unexpected argument '%s': see runyard-scheduler --help", argv[1]);
	return 0;
}

int command_run(struct scheduler *s, int argc, char **argv, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (argc == 0 ? i == 0 : text_equal(argv[0], commands[i].name))
			return command_check(&commands[i], argc, argv, err) < 0 ? -1
										: commands[i].run(s, argc, argv, err);
	return err_set(err, ERR_INVALID, "unknown command '%s': see runyard-scheduler --help", argv[0]);
}
