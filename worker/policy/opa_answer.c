/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/opa_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"

enum { ERRORS_TOLD = 5 };

__attribute__((format(printf, 2, 3))) static void errored(struct judgement *judgement, const char *format, ...)
{
	va_list args;

	judgement->verdict = VERDICT_ERRORED;
	va_start(args, format);
	vsnprintf(judgement->reason, sizeof(judgement->reason), format, args);
	va_end(args);
}

/* ---- errors ---- */

static void tell_error(struct buf *out, const json_t *error)
{
	const char *file = json_string_at(error, "location.file");

	buf_printf(out, "%s%s", out->len ? "; " : "", text_or_empty(json_string_at(error, "message")));
	if (file && *file)
		buf_printf(out, " (%s:%lld)", file, json_int_at(error, "location.row", 0));
}

static void read_errors(const json_t *errors, struct judgement *judgement)
{
	struct buf told = BUF_INIT(sizeof(judgement->reason) - 1);
	const json_t *error;
	size_t i;

	json_array_foreach((json_t *)errors, i, error)
	{
		if (i < ERRORS_TOLD)
			tell_error(&told, error);
	}
	if (json_array_size(errors) > ERRORS_TOLD)
		buf_printf(&told, "; and %zu more", json_array_size(errors) - ERRORS_TOLD);
	errored(judgement, "%s", told.len ? buf_str(&told) : "opa says that it failed, and not why");
	buf_release(&told);
}

bool opa_answer_unparsed(const struct evaluated *evaluated)
{
	return evaluated->code > 0 && memmem(evaluated->out, evaluated->out_len, "rego_parse_error", 16) != NULL;
}

/* ---- results ---- */

static void add_violation(json_t *says, const json_t *violation)
{
	const char *message = json_string_at(violation, "msg");
	_cleanup_(freep) char *text = NULL;

	if (json_is_string(violation))
		json_array_append(says, (json_t *)violation);
	else if (message)
		json_array_append_new(says, json_string(message));
	else
		json_array_append_new(says, json_string(text = json_text(violation)));
}

static void read_value(const json_t *value, const char *text, struct judgement *judgement)
{
	const json_t *violation;
	size_t i;

	if (!json_is_array(value)) {
		errored(judgement, "The query %.400s gives %s, and must give an array", text,
			json_is_boolean(value)          ? "a boolean"
				: json_is_object(value) ? "an object"
							: "a single value");
		return;
	}
	if (json_array_size(value) > 0 && judgement->verdict == VERDICT_PASSED)
		judgement->verdict = VERDICT_FAILED;
	json_array_foreach(value, i, violation) add_violation(judgement->says, violation);
}

static void read_results(const json_t *results, struct judgement *judgement)
{
	const json_t *row, *expression;
	size_t i, n;

	judgement->verdict = VERDICT_PASSED;
	json_array_foreach(results, i, row)
	{
		json_array_foreach(json_object_get(row, "expressions"), n, expression)
			read_value(json_object_get(expression, "value"),
				text_or_empty(json_string_at(expression, "text")), judgement);
	}
}

void opa_answer_read(const struct evaluated *evaluated, struct judgement *ret_judgement)
{
	json_auto_t *answer = NULL;
	const json_t *results;
	struct err err = ERR_INIT;

	ret_judgement->says = json_array();
	if (json_parse(evaluated->out, evaluated->out_len, &answer, &err) < 0 || !json_is_object(answer)) {
		const char *line = evaluated->errors + strspn(evaluated->errors, "\n");

		errored(ret_judgement, "opa ended with exit code %d: %.*s", evaluated->code, (int)strcspn(line, "\n"),
			line);
		return;
	}
	results = json_object_get(answer, "result");
	if (evaluated->code != 0 || json_object_get(answer, "errors"))
		read_errors(json_object_get(answer, "errors"), ret_judgement);
	else if (json_array_size(results) == 0)
		errored(ret_judgement,
			"The query is undefined: there is no such rule, or it does not hold; it must give an array");
	else
		read_results(results, ret_judgement);
}
