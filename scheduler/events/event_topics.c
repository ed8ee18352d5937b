/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/event_topics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum permission permission;
} kinds[EVENT_TOPIC_KINDS] = {
	[EVENTS_OF_ORGANIZATION] = {"org", CAN_READ_ORGANIZATION},
	[EVENTS_OF_WORKSPACE] = {"workspace", CAN_READ_WORKSPACE},
	[EVENTS_OF_RUN] = {"run", CAN_READ_RUNS},
	[EVENTS_OF_LOG] = {"log", CAN_READ_RUNS},
	[EVENTS_OF_SITE] = {"site", CAN_ADMINISTER_SITE},
};

const char *event_topic_word(enum event_topic_kind kind)
{
	return kinds[kind].word;
}

enum permission event_topic_permission(enum event_topic_kind kind)
{
	return kinds[kind].permission;
}

void event_topic_text(const struct event_topic *topic, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s%s%s", kinds[topic->kind].word, topic->name[0] ? ":" : "", topic->name);
}

/* Ids and names of organizations are letters, digits, hyphens and underscores. */
static bool is_name(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	return len > 0 && len < EVENT_TOPIC_NAME;
}

static bool name_fits(const struct event_topic *topic)
{
	switch (topic->kind) {
	case EVENTS_OF_WORKSPACE:
		return id_valid(topic->name, "ws");
	case EVENTS_OF_RUN:
		return id_valid(topic->name, "run");
	case EVENTS_OF_LOG:
		return id_valid(topic->name, "plan") || id_valid(topic->name, "apply");
	default:
		return true;
	}
}

/* Changes the text. Returns false if it is no topic. */
static bool topic_parse(char *text, struct event_topic *ret_topic)
{
	char *name = strchr(text, ':');
	char *offset = strchr(text, '@');
	struct event_topic topic = {.kind = 0};

	if (name)
		*name++ = '\0';
	while (topic.kind < EVENT_TOPIC_KINDS && !text_equal(kinds[topic.kind].word, text))
		topic.kind++;
	if (topic.kind == EVENT_TOPIC_KINDS || (topic.kind == EVENTS_OF_SITE) != !name ||
		(offset && topic.kind != EVENTS_OF_LOG))
		return false;
	if (offset)
		*offset++ = '\0';
	if ((name && !is_name(name)) || (offset && text_number(offset, 0, INT64_MAX / 4, &topic.offset) < 0))
		return false;
	text_copy(topic.name, sizeof(topic.name), text_or_empty(name));
	*ret_topic = topic;
	return name_fits(&topic);
}

static bool is_listed(const struct event_topics *topics, const struct event_topic *topic)
{
	for (size_t i = 0; i < topics->count; i++)
		if (topics->items[i].kind == topic->kind && text_equal(topics->items[i].name, topic->name))
			return true;
	return false;
}

int event_topics_parse(const char *text, struct event_topics *ret_topics, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(text_or_empty(text));
	char *rest = copy, *item;

	ret_topics->count = 0;
	if (!*copy)
		return err_set(err, ERR_MALFORMED, "topics must list at least one topic");
	while ((item = strsep(&rest, ","))) {
		struct event_topic topic;

		if (ret_topics->count == MAX_EVENT_TOPICS)
			return err_set(err, ERR_MALFORMED, "topics has more than %d topics", MAX_EVENT_TOPICS);
		if (!topic_parse(item, &topic))
			return err_set(err, ERR_MALFORMED,
				"topics must list org:<name>, workspace:<id>, run:<id>, log:<plan or apply "
				"id>@<offset> or site, separated by commas; topic %zu is none of these",
				ret_topics->count + 1);
		if (!is_listed(ret_topics, &topic))
			ret_topics->items[ret_topics->count++] = topic;
	}
	return 0;
}
