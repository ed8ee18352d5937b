/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/messages.h"

#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "proto/topics.h"

static const char *const outcomes[] = {"passed", "failed", "soft_failed", "errored", "canceled"};
static const char *const stops[] = {"none", "cancel", "force"};

static int word_parse(const char *const *words, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(words[i], name))
			return (int)i;
	return -1;
}

const char *outcome_name(enum outcome outcome)
{
	return outcomes[outcome];
}

const char *stop_name(enum stop stop)
{
	return stops[stop];
}

int outcome_parse(const char *name)
{
	return word_parse(outcomes, ARRAY_LEN(outcomes), name);
}

int stop_parse(const char *name)
{
	return word_parse(stops, ARRAY_LEN(stops), name);
}

/* Takes the value. */
static char *encode(json_t *value)
{
	char *text = json_text(value);

	json_decref(value);
	return text;
}

char *job_message_encode(const struct job_message *message)
{
	return encode(
		json_pack("{si ss ss}", "v", MESSAGE_VERSION, "job", message->job.text, "run", message->run.text));
}

/* An engine's message need not be UTF-8. A result without its error is better than no result. */
const char *job_result_error(const struct job_result *result)
{
	json_auto_t *readable = json_string(result->error);

	return readable ? result->error : "(the reason is not readable text)";
}

static void add_mac(json_t *value, const char *mac)
{
	if (*mac)
		json_object_set_new(value, "mac", json_string(mac));
}

char *job_result_encode(const struct job_result *result)
{
	json_t *value = json_pack("{si ss si ss ss sb sb si si si si ss}", "v", MESSAGE_VERSION, "job",
		result->job.text, "attempt", result->attempt, "run", result->run.text, "outcome",
		outcome_name(result->outcome), "has-changes", result->has_changes, "state-owed", result->state_owed,
		"additions", result->additions, "changes", result->changes, "destructions", result->destructions,
		"imports", result->imports, "terraform-version", result->terraform_version);

	json_object_set_new(value, "error", json_string(job_result_error(result)));
	add_mac(value, result->mac);
	return encode(value);
}

char *job_stop_encode(const struct job_stop *stop)
{
	json_t *value = json_pack("{si ss si ss}", "v", MESSAGE_VERSION, "job", stop->job.text, "attempt",
		stop->attempt, "stop", stop_name(stop->stop));

	add_mac(value, stop->mac);
	return encode(value);
}

char *run_changed_encode(const struct run_changed *changed)
{
	json_t *message = json_pack("{si ss ss ss ss ss}", "v", MESSAGE_VERSION, "run", changed->run.text, "workspace",
		changed->workspace.text, "organization", changed->organization.text, "status", changed->status, "at",
		changed->at);

	if (changed->comment)
		json_object_set_new(message, "comment", json_string(changed->comment));
	if (json_object_size(changed->stages))
		json_object_set(message, "stages", (json_t *)changed->stages);
	return encode(message);
}

char *run_part_changed_encode(const struct run_part_changed *changed)
{
	return encode(json_pack("{si ss ss ss ss}", "v", MESSAGE_VERSION, "run", changed->run, "workspace",
		changed->workspace, "organization", changed->organization, changed->part, changed->id));
}

char *audit_told_encode(const struct audit_told *told)
{
	return encode(json_pack("{si ss so so ss ss so so}", "v", MESSAGE_VERSION, "audit", told->id, "organization",
		json_string_or_null(told->organization), "actor", json_string_or_null(told->actor), "action",
		told->action, "resource-type", told->resource_type, "resource", json_string_or_null(told->resource),
		"workspace", json_string_or_null(told->workspace)));
}

char *task_message_encode(const struct task_message *message)
{
	return encode(json_pack("{si ss ss}", "v", MESSAGE_VERSION, "task-result", message->task_result.text, "run",
		message->run.text));
}

char *notification_message_encode(const char *notification_id, const char *run_id)
{
	return encode(json_pack("{si ss ss}", "v", MESSAGE_VERSION, "notification", notification_id, "run", run_id));
}

struct dead_letter dead_letter_of(const struct kafka_message *message, const char *reader, const char *why)
{
	return (struct dead_letter){.topic = message->topic,
		.partition = message->partition,
		.offset = message->offset,
		.reader = reader,
		.error = why,
		.payload = message->payload,
		.len = message->len,
		.size = message->len};
}

char *dead_letter_encode(const struct dead_letter *letter)
{
	size_t len = letter->len < MAX_LETTER_PAYLOAD ? letter->len : MAX_LETTER_PAYLOAD;
	_cleanup_(freep) char *payload = crypto_base64(letter->payload, len);
	/* The reason may quote text that is not UTF-8. */
	json_t *error = json_string(letter->error);

	return encode(json_pack("{si ss si sI ss so sI ss}", "v", MESSAGE_VERSION, "topic", letter->topic, "partition",
		letter->partition, "offset", (json_int_t)letter->offset, "reader", letter->reader, "error",
		error ? error : json_string("it is not readable text"), "size", (json_int_t)letter->size, "payload",
		payload));
}

static int read_id(const json_t *value, const char *member, const char *prefix, struct id *ret_id, struct err *err)
{
	const char *text = json_string_at(value, member);

	if (!id_valid(text, prefix))
		return err_set(err, ERR_MALFORMED, "'%s' is no %s id", member, prefix);
	text_copy(ret_id->text, sizeof(ret_id->text), text);
	return 0;
}

static int read_number(const json_t *value, const char *member, int low, int *ret_number, struct err *err)
{
	long long number = json_int_at(value, member, 0);

	if (number < low || number > INT32_MAX || (json_at(value, member) && !json_is_integer(json_at(value, member))))
		return err_set(err, ERR_MALFORMED, "'%s' is not a whole number from %d on", member, low);
	*ret_number = (int)number;
	return 0;
}

/* Sets "" for a code that is missing or has another form. It verifies nothing. */
static void read_mac(const json_t *value, char ret_mac[MAC_SIZE])
{
	const char *text = text_or_empty(json_string_at(value, "mac"));
	bool valid = strlen(text) == MAC_SIZE - 1 && text_starts(text, MAC_VERSION) &&
		strspn(text + strlen(MAC_VERSION), "0123456789abcdef") == MAC_SIZE - sizeof(MAC_VERSION);

	text_copy(ret_mac, MAC_SIZE, valid ? text : "");
}

static int message_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err)
{
	long long version;

	if (json_parse(bytes, len, ret_value, err) < 0)
		return err_context(err, "message");
	version = json_int_at(*ret_value, "v", 0);
	if (version < MESSAGE_OLDEST || version > MESSAGE_NEWEST)
		return err_set(err, ERR_MALFORMED, "the message has version %lld, and this program reads %d to %d",
			version, MESSAGE_OLDEST, MESSAGE_NEWEST);
	return 0;
}

int job_message_decode(const char *bytes, size_t len, struct job_message *ret_message, struct err *err)
{
	json_auto_t *value = NULL;

	if (message_parse(bytes, len, &value, err) < 0 || read_id(value, "job", "job", &ret_message->job, err) < 0 ||
		read_id(value, "run", "run", &ret_message->run, err) < 0)
		return -1;
	return 0;
}

int job_result_decode(const char *bytes, size_t len, struct job_result *ret_result, struct err *err)
{
	json_auto_t *value = NULL;
	struct job_result result = {.outcome = OUTCOME_ERRORED};
	int outcome;

	if (message_parse(bytes, len, &value, err) < 0 || read_id(value, "job", "job", &result.job, err) < 0 ||
		read_id(value, "run", "run", &result.run, err) < 0 ||
		read_number(value, "attempt", 1, &result.attempt, err) < 0 ||
		read_number(value, "additions", 0, &result.additions, err) < 0 ||
		read_number(value, "changes", 0, &result.changes, err) < 0 ||
		read_number(value, "destructions", 0, &result.destructions, err) < 0 ||
		read_number(value, "imports", 0, &result.imports, err) < 0)
		return -1;
	outcome = outcome_parse(json_string_at(value, "outcome"));
	if (outcome < 0)
		return err_set(
			err, ERR_MALFORMED, "'outcome' is none of passed, failed, soft_failed, errored, canceled");
	result.outcome = (enum outcome)outcome;
	result.has_changes = json_bool_at(value, "has-changes", false);
	result.state_owed = json_bool_at(value, "state-owed", false);
	text_copy(
		result.terraform_version, sizeof(result.terraform_version), json_string_at(value, "terraform-version"));
	text_copy(result.error, sizeof(result.error), json_string_at(value, "error"));
	read_mac(value, result.mac);
	*ret_result = result;
	return 0;
}

int task_message_decode(const char *bytes, size_t len, struct task_message *ret_message, struct err *err)
{
	json_auto_t *value = NULL;

	if (message_parse(bytes, len, &value, err) < 0 ||
		read_id(value, "task-result", "taskrs", &ret_message->task_result, err) < 0 ||
		read_id(value, "run", "run", &ret_message->run, err) < 0)
		return -1;
	return 0;
}

int request_message_decode(const char *bytes, size_t len, struct request_message *ret_message, struct err *err)
{
	json_auto_t *value = NULL;
	bool notification;

	if (message_parse(bytes, len, &value, err) < 0)
		return -1;
	notification = json_at(value, "notification") != NULL;
	if (read_id(value, notification ? "notification" : "task-result", notification ? "ntf" : "taskrs",
		    &ret_message->id, err) < 0)
		return -1;
	ret_message->notification = notification;
	return 0;
}

int job_stop_decode(const char *bytes, size_t len, struct job_stop *ret_stop, struct err *err)
{
	json_auto_t *value = NULL;
	int stop;

	if (message_parse(bytes, len, &value, err) < 0 || read_id(value, "job", "job", &ret_stop->job, err) < 0 ||
		read_number(value, "attempt", 1, &ret_stop->attempt, err) < 0)
		return -1;
	stop = stop_parse(json_string_at(value, "stop"));
	if (stop < 0)
		return err_set(err, ERR_MALFORMED, "'stop' is none of none, cancel, force");
	ret_stop->stop = (enum stop)stop;
	read_mac(value, ret_stop->mac);
	return 0;
}

int dead_letter_decode(const struct kafka_message *message, json_t **ret_source, struct buf *ret_payload,
	struct dead_letter *ret_letter, struct err *err)
{
	json_t *value = NULL;
	struct dead_letter letter = {0};
	const struct topic_row *topic;

	*ret_source = NULL;
	if (message_parse(message->payload, message->len, &value, err) < 0) {
		json_decref(value);
		return -1;
	}
	*ret_source = value;
	letter.topic = json_string_at(value, "topic");
	letter.reader = json_string_at(value, "reader");
	letter.error = json_string_at(value, "error");
	letter.offset = json_int_at(value, "offset", -1);
	topic = topic_find(letter.topic);
	/* Readers of runyard.events ignore malformed messages. */
	if (!topic || topic == &topics[TOPIC_EVENTS])
		return err_set(err, ERR_MALFORMED, "'topic' is no topic that our processes read");
	if (!letter.reader || !letter.error || read_number(value, "partition", 0, &letter.partition, err) < 0 ||
		crypto_base64_decode(text_or_empty(json_string_at(value, "payload")), ret_payload) < 0)
		return err_set(
			err, ERR_MALFORMED, "'reader', 'error', 'partition' or 'payload' is not what it should be");
	if (strlen(letter.reader) > MAX_LETTER_TEXT || strlen(letter.error) > MAX_LETTER_TEXT)
		return err_set(err, ERR_MALFORMED, "'reader' or 'error' is longer than %d bytes", MAX_LETTER_TEXT);
	letter.payload = buf_str(ret_payload);
	letter.len = ret_payload->len;
	letter.size = (size_t)json_int_at(value, "size", 0);
	if (letter.size < letter.len || letter.size > INT32_MAX || letter.offset < 0)
		return err_set(err, ERR_MALFORMED, "'size' or 'offset' is not what it should be");
	*ret_letter = letter;
	return 0;
}
