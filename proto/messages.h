/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_MESSAGES_H
#define PROTO_MESSAGES_H

/* The messages on the topics (README.md in this folder): conversion between structs and compact JSON. Messages contain
 * only ids and small facts. */

#include "common/buf.h"
#include "common/ids.h"
#include "common/json/json.h"
#include "common/kafka/kafka.h"

/* Messages are written as MESSAGE_VERSION, and read from MESSAGE_OLDEST on. A new form is first read by one release and
 * then written by the next one: no program meets a message that it can't read while two releases run. */
enum { MESSAGE_VERSION = 1, MESSAGE_OLDEST = 1, MESSAGE_NEWEST = 1, RESULT_ERROR_SIZE = 1001 };

/* A message authentication code (mac.h): its version and 64 hexadecimal digits. */
#define MAC_VERSION "v1:"
enum { MAC_SIZE = sizeof(MAC_VERSION) + 64 };

enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_SOFT_FAILED, OUTCOME_ERRORED, OUTCOME_CANCELED };
enum stop { STOP_NONE, STOP_CANCEL, STOP_FORCE };

const char *outcome_name(enum outcome outcome);
const char *stop_name(enum stop stop);
/* -1 for an unknown name. */
int outcome_parse(const char *name);
int stop_parse(const char *name);

/* On runyard.jobs.<pool>: a job waits. */
struct job_message {
	struct id job, run;
};

/* On runyard.results, and POST result: an attempt ended. */
struct job_result {
	struct id job, run;
	int attempt;
	enum outcome outcome;
	bool has_changes;
	bool state_owed; /* of an apply: the worker has a state that the scheduler has not accepted */
	int additions, changes, destructions, imports;
	char terraform_version[32];
	char error[RESULT_ERROR_SIZE]; /* "" when it passed */
	char mac[MAC_SIZE];            /* "": no code, or one of another form */
};

/* On runyard.control: a running attempt has to stop. */
struct job_stop {
	struct id job;
	int attempt;
	enum stop stop;
	char mac[MAC_SIZE]; /* as in a result */
};

/* On runyard.events: a run, or stages of it, changed their status. */
struct run_changed {
	struct id run, workspace, organization;
	const char *status;   /* borrowed */
	const char *at;       /* borrowed */
	const char *comment;  /* the id of a comment that was made with the change, or NULL; borrowed */
	const json_t *stages; /* {stage: status} of those that changed, or NULL; borrowed */
};

/* On runyard.events: a part of a run changed, by its id. */
struct run_part_changed {
	const char *run, *workspace, *organization;
	const char *part; /* "comment", "task-result" or "assessment" */
	const char *id;
};

/* On runyard.tasks: a task result's request is to be sent. On runyard.task-results: a report on it was stored. */
struct task_message {
	struct id task_result, run;
};

/* On runyard.events: an actor changed a resource. The API has the names of both. NULL: unknown. */
struct audit_told {
	const char *id, *organization, *actor, *action, *resource_type, *resource, *workspace;
};

/* On runyard.tasks too: a request of a run task or a notification is to be sent. */
struct request_message {
	struct id id;
	bool notification;
};

/* On runyard.dead-letters: an unreadable message, with the reason. */
struct dead_letter {
	const char *topic; /* where it was found; one of topics.def */
	int partition;
	long long offset;
	const char *reader; /* name of the process that found it */
	const char *error;  /* why */
	const void *payload;
	size_t len;
	size_t size; /* of the whole payload; larger than `len` if the payload was cut off */
};
/* Encoded in base64 and with the other members, such a payload fits into one message (message.max.bytes: 1,000,000). */
enum { MAX_LETTER_PAYLOAD = 700 << 10, MAX_LETTER_TEXT = 2000 };

/* Makes the dead letter of a message that was read. Borrows everything. */
struct dead_letter dead_letter_of(const struct kafka_message *message, const char *reader, const char *why);

/* Returns the error as the encoded result contains it: an error that is not UTF-8 is replaced. Borrowed. */
const char *job_result_error(const struct job_result *result);

/* Each encoder returns compact JSON that the caller frees. */
char *job_message_encode(const struct job_message *message);
char *job_result_encode(const struct job_result *result);
char *job_stop_encode(const struct job_stop *stop);
char *run_changed_encode(const struct run_changed *changed);
char *run_part_changed_encode(const struct run_part_changed *changed);
char *audit_told_encode(const struct audit_told *told);
char *task_message_encode(const struct task_message *message);
char *dead_letter_encode(const struct dead_letter *letter); /* cuts off a payload that is too long */
char *notification_message_encode(const char *notification_id, const char *run_id);

/* Each decoder returns -1 with ERR_MALFORMED that names the member. */
int job_message_decode(const char *bytes, size_t len, struct job_message *ret_message, struct err *err);
int job_result_decode(const char *bytes, size_t len, struct job_result *ret_result, struct err *err);
int task_message_decode(const char *bytes, size_t len, struct task_message *ret_message, struct err *err);
int request_message_decode(const char *bytes, size_t len, struct request_message *ret_message, struct err *err);
int job_stop_decode(const char *bytes, size_t len, struct job_stop *ret_stop, struct err *err);
/* The texts are borrowed from *ret_source, which the caller releases, and the payload from *ret_payload. */
int dead_letter_decode(const struct kafka_message *message, json_t **ret_source, struct buf *ret_payload,
	struct dead_letter *ret_letter, struct err *err);

#endif
