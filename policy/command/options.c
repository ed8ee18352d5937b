/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/command/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/clock.h"
#include "policy/configuration/hcl.h"

enum flag_kind { SWITCH, TEXT, COUNT, DURATION, SIZE, SETTING };

struct flag {
	const char *name;
	enum flag_kind kind;
	size_t offset; /* of the field in struct options */
	unsigned commands;
	const char *argument, *help;
};

#define FLAG(name, kind, field, commands, argument, help)                                                              \
	{name, kind, offsetof(struct options, field), commands, argument, help},
static const struct flag flags[] = {
#include "policy/command/flags.def"
};
#undef FLAG

/* ---- values ---- */

struct unit_name {
	const char *name;
	uint64_t factor;
};

static const struct unit_name no_units[] = {{"", 1}, {0}};
static const struct unit_name durations[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}, {0}};
static const struct unit_name sizes[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {0}};

/* The factor of the unit with that name, or 0. */
static uint64_t unit_factor(const struct unit_name *units, const char *name, size_t len)
{
	for (; units->name; units++)
		if (strlen(units->name) == len && memcmp(units->name, name, len) == 0)
			return units->factor;
	return 0;
}

/* Adds a whole number with a unit. Returns what follows it, or NULL. */
static const char *add_number(const char *text, const struct unit_name *units, uint64_t *sum)
{
	char *end;
	uint64_t number, factor;
	size_t len;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	number = strtoull(text, &end, 10);
	len = strcspn(end, "0123456789");
	factor = unit_factor(units, end, len);
	if (errno || factor == 0 || __builtin_mul_overflow(number, factor, &number) ||
		__builtin_add_overflow(*sum, number, sum) || *sum > INT64_MAX)
		return NULL;
	return end + len;
}

/* Whole numbers with units, of which the sum is above 0: "5m", "1m30s". */
static bool read_number(const char *text, const struct unit_name *units, uint64_t *ret_number)
{
	uint64_t sum = 0;

	do
		text = add_number(text, units, &sum);
	while (text && *text);
	*ret_number = sum;
	return text && sum > 0;
}

static void try_literal(struct run *run, void *data)
{
	struct setting *setting = data;
	struct source source = {.name = setting->name, .text = setting->text, .len = strlen(setting->text)};

	setting->literal = !value_is(hcl_literal(run, &source), VALUE_NULL);
}

/* Finds out whether the text is a literal. */
static void classify(struct setting *setting)
{
	struct run run;

	run_init(&run, &run_limits_default);
	run.loading = true;
	if (run_protected(&run, try_literal, setting) < 0)
		setting->literal = false;
	run_release(&run);
}

static bool add_setting(struct setting **settings, const char *text)
{
	const char *equals = strchr(text, '=');
	struct setting *setting;

	if (!equals || equals == text)
		return false;
	setting = mem_new(1, sizeof(*setting));
	*setting = (struct setting){
		.name = mem_printf("%.*s", (int)(equals - text), text),
		.text = equals + 1,
	};
	classify(setting);
	while (*settings)
		settings = &(*settings)->next;
	*settings = setting;
	return true;
}

static bool set_switch(bool *field, const char *text)
{
	*field = !text || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	return *field || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool set_number(void *field, const struct unit_name *units, const char *text)
{
	return read_number(text, units, field);
}

/* False if the text is no value of the flag. */
static bool set_flag(struct options *options, const struct flag *flag, const char *text)
{
	void *field = (char *)options + flag->offset;

	switch (flag->kind) {
	case SWITCH:
		return set_switch(field, text);
	case TEXT:
		*(const char **)field = text;
		return *text != '\0';
	case COUNT:
		return set_number(field, no_units, text);
	case DURATION:
		return set_number(field, durations, text);
	case SIZE:
		return set_number(field, sizes, text);
	case SETTING:
		return add_setting(field, text);
	}
	return false;
}

/* ---- arguments ---- */

static const struct flag *find_flag(enum command_bit command, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if ((flags[i].commands & command) && strlen(flags[i].name) == len &&
			memcmp(flags[i].name, name, len) == 0)
			return &flags[i];
	return NULL;
}

/* Reads the flag at args[0]. The number of arguments that it took, or 0 with a message. */
static size_t take_flag(struct options *options, char **args)
{
	const char *name = args[0] + (args[0][1] == '-' ? 2 : 1);
	size_t len = strcspn(name, "=");
	const struct flag *flag = find_flag(options->command, name, len);
	const char *text = name[len] == '=' ? name + len + 1 : NULL;
	size_t taken = 1;

	if (!flag) {
		fprintf(stderr, "the flag %s is not known\n", args[0]);
		return 0;
	}
	if (!text && flag->kind != SWITCH && args[1]) {
		text = args[1];
		taken = 2;
	}
	if ((!text && flag->kind != SWITCH) || !set_flag(options, flag, text)) {
		fprintf(stderr, "-%s needs %s\n", flag->name, flag->argument ? flag->argument : "true or false");
		return 0;
	}
	return taken;
}

/* A variable with the prefix alone names no parameter, and is skipped. */
static void take_environment(struct options *options, char **environment)
{
	static const char prefix[] = "SENTINEL_PARAM_";

	for (char **variable = environment; *variable; variable++)
		if (text_starts(*variable, prefix))
			add_setting(&options->params, *variable + strlen(prefix));
}

bool options_parse(struct options *options, enum command_bit command, char **args, char **environment)
{
	bool paths = false;
	size_t count = 0;

	while (args[count])
		count++;
	*options = (struct options){
		.command = command,
		.paths = mem_new(count + 1, sizeof(char *)),
		.limits = run_limits_default,
		.begun_ms = clock_mono_ms(),
	};
	if (command == TEST)
		options->limits.timeout_ms = 300000;
	if (command == EVAL)
		take_environment(options, environment);
	while (*args) {
		size_t taken = 1;

		if (!paths && strcmp(*args, "--") == 0)
			paths = true;
		else if (paths || **args != '-')
			options->paths[options->path_count++] = *args;
		else
			taken = take_flag(options, args);
		if (taken == 0)
			return false;
		args += taken;
	}
	return true;
}

static void settings_free(struct setting *setting)
{
	while (setting) {
		struct setting *next = setting->next;

		free((char *)setting->name);
		free(setting);
		setting = next;
	}
}

void options_release(struct options *options)
{
	settings_free(options->params);
	settings_free(options->globals);
	free(options->paths);
}

struct run_limits options_limits(const struct options *options)
{
	struct run_limits limits = options->limits;
	int64_t spent_ms = clock_mono_ms() - options->begun_ms;

	limits.timeout_ms = limits.timeout_ms > spent_ms ? limits.timeout_ms - spent_ms : 0;
	return limits;
}

void options_help(enum command_bit command)
{
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		char left[64];

		if (!(flags[i].commands & command))
			continue;
		snprintf(left, sizeof(left), "-%s%s%s", flags[i].name, flags[i].argument ? "=" : "",
			flags[i].argument ? flags[i].argument : "");
		printf("  %-22s %s\n", left, flags[i].help);
	}
}
