/* SPDX-License-Identifier: MPL-2.0 */
#include "common/kafka/kafka_groups.h"

#include <librdkafka/rdkafka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/kafka/kafka_conf.h"
#include "common/kafka/kafka_failures.h"

enum { CALLS_AT_ONCE = 100, ERROR_SIZE = 256 };

#define LIST rd_kafka_topic_partition_list_t

static void list_freep(LIST **list)
{
	if (*list)
		rd_kafka_topic_partition_list_destroy(*list);
}

void kafka_group_topic_release(struct kafka_group_topic *item)
{
	free(item->positions);
	item->positions = NULL;
	item->partitions = 0;
}

static void item_fails(struct kafka_group_topic *item, rd_kafka_resp_err_t error)
{
	if (error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
		item->refused = "group";
	if (error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
		item->refused = "topic";
	kafka_group_topic_release(item);
	item->failure = kafka_failure(error);
}

/* ---- partitions and their ends ---- */

static const rd_kafka_metadata_topic_t *topic_find(const struct rd_kafka_metadata *metadata, const char *name)
{
	for (int i = 0; i < metadata->topic_cnt; i++)
		if (text_equal(metadata->topics[i].topic, name))
			return &metadata->topics[i];
	return NULL;
}

static void partitions_set(struct kafka_group_topic *item, const struct rd_kafka_metadata *metadata)
{
	const rd_kafka_metadata_topic_t *topic = topic_find(metadata, item->topic);

	if (!topic || topic->err || topic->partition_cnt <= 0) {
		item->failure = kafka_failure(topic ? topic->err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
		return;
	}
	item->partitions = (size_t)topic->partition_cnt;
	item->positions = mem_new(item->partitions, sizeof(*item->positions));
	for (size_t i = 0; i < item->partitions; i++)
		item->positions[i].committed = -1;
}

/* One request for the metadata of all topics: a request for single topics could create them. */
static void partitions_read(rd_kafka_t *rk, struct kafka_group_topic *items, size_t count, int timeout_ms)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t error = rd_kafka_metadata(rk, 1, NULL, &metadata, timeout_ms);

	for (size_t i = 0; i < count; i++) {
		if (error)
			item_fails(&items[i], error);
		else
			partitions_set(&items[i], metadata);
	}
	if (metadata)
		rd_kafka_metadata_destroy(metadata);
}

static void offsets_take(const LIST *list, struct kafka_group_topic *items, size_t count, bool ends)
{
	int at = 0;

	for (size_t i = 0; i < count; i++) {
		size_t partitions = items[i].partitions;
		rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;

		for (size_t p = 0; p < partitions; p++, at++) {
			error = list->elems[at].err ? list->elems[at].err : error;
			*(ends ? &items[i].positions[p].end : &items[i].positions[p].start) = list->elems[at].offset;
		}
		if (error)
			item_fails(&items[i], error);
	}
}

/* The offsets of the oldest or of the next messages of all partitions, with one request to each broker. */
static void offsets_read(rd_kafka_t *rk, struct kafka_group_topic *items, size_t count, bool ends, int timeout_ms)
{
	_cleanup_(list_freep) LIST *list = rd_kafka_topic_partition_list_new(8);
	rd_kafka_resp_err_t error;

	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < items[i].partitions; p++)
			rd_kafka_topic_partition_list_add(list, items[i].topic, (int32_t)p)->offset =
				ends ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
	if (!list->cnt)
		return;
	error = rd_kafka_offsets_for_times(rk, list, timeout_ms);
	if (!error || error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION) {
		offsets_take(list, items, count, ends);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (items[i].partitions)
			item_fails(&items[i], error);
}

/* ---- groups ---- */

static LIST *item_list(const struct kafka_group_topic *item, const int64_t *offsets)
{
	LIST *list = rd_kafka_topic_partition_list_new((int)item->partitions);

	for (size_t p = 0; p < item->partitions; p++)
		rd_kafka_topic_partition_list_add(list, item->topic, (int32_t)p)->offset =
			offsets ? offsets[p] : RD_KAFKA_OFFSET_INVALID;
	return list;
}

static rd_kafka_AdminOptions_t *options_new(rd_kafka_t *rk, rd_kafka_admin_op_t op, int timeout_ms, void *opaque)
{
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, op);
	char error[ERROR_SIZE];

	rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, error, sizeof(error));
	rd_kafka_AdminOptions_set_opaque(options, opaque);
	return options;
}

static void committed_ask(rd_kafka_t *rk, struct kafka_group_topic *item, int timeout_ms, rd_kafka_queue_t *queue)
{
	_cleanup_(list_freep) LIST *list = item_list(item, NULL);
	rd_kafka_ListConsumerGroupOffsets_t *call = rd_kafka_ListConsumerGroupOffsets_new(item->group, list);
	rd_kafka_AdminOptions_t *options =
		options_new(rk, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, timeout_ms, item);

	rd_kafka_ListConsumerGroupOffsets(rk, &call, 1, options, queue);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ListConsumerGroupOffsets_destroy(call);
}

static rd_kafka_resp_err_t group_error(const rd_kafka_group_result_t *const *groups, size_t count)
{
	const rd_kafka_error_t *error = count ? rd_kafka_group_result_error(groups[0]) : NULL;

	return error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t committed_take(rd_kafka_event_t *event, struct kafka_group_topic *item)
{
	size_t count = 0;
	const rd_kafka_group_result_t **groups;
	const LIST *list;
	rd_kafka_resp_err_t error = rd_kafka_event_error(event);

	if (error)
		return error;
	groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
		rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
	error = group_error(groups, count);
	list = count && !error ? rd_kafka_group_result_partitions(groups[0]) : NULL;
	for (int i = 0; list && i < list->cnt; i++) {
		error = list->elems[i].err ? list->elems[i].err : error;
		if ((size_t)list->elems[i].partition < item->partitions)
			item->positions[list->elems[i].partition].committed =
				list->elems[i].offset < 0 ? -1 : list->elems[i].offset;
	}
	return error;
}

/* librdkafka takes one group per call. Each call has a timeout of its own, so each one is answered. */
static void committed_read(rd_kafka_t *rk, struct kafka_group_topic *items, size_t count, int timeout_ms)
{
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	size_t sent = 0, under_way = 0;

	while (sent < count || under_way) {
		rd_kafka_event_t *event;

		for (; sent < count && under_way < CALLS_AT_ONCE; sent++)
			if (items[sent].partitions && *items[sent].group) {
				committed_ask(rk, &items[sent], timeout_ms, queue);
				under_way++;
			}
		if (!under_way)
			break;
		event = rd_kafka_queue_poll(queue, -1);
		if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT) {
			struct kafka_group_topic *item = rd_kafka_event_opaque(event);
			rd_kafka_resp_err_t error = committed_take(event, item);

			under_way--;
			if (error)
				item_fails(item, error);
		}
		rd_kafka_event_destroy(event);
	}
	rd_kafka_queue_destroy(queue);
}

static void members_take(rd_kafka_event_t *event, struct kafka_group_topic *items, size_t count)
{
	size_t described = 0;
	const rd_kafka_ConsumerGroupDescription_t **groups = rd_kafka_DescribeConsumerGroups_result_groups(
		rd_kafka_event_DescribeConsumerGroups_result(event), &described);

	for (size_t g = 0, i = 0; g < described; g++) {
		const char *name = rd_kafka_ConsumerGroupDescription_group_id(groups[g]);
		const rd_kafka_error_t *error = rd_kafka_ConsumerGroupDescription_error(groups[g]);
		size_t members = rd_kafka_ConsumerGroupDescription_member_count(groups[g]);

		while (i < count && !text_equal(items[i].group, name))
			i++;
		for (; i < count && text_equal(items[i].group, name); i++)
			items[i].members = error && rd_kafka_error_code(error) ? -1 : (int)members;
	}
}

/* The embedded broker, which has no controller, does not support this request: the members are unknown then. The answer
 * has the groups in the order of the request. */
static void members_read(rd_kafka_t *rk, struct kafka_group_topic *items, size_t count, int timeout_ms)
{
	_cleanup_(freep) const char **groups = mem_new(count + 1, sizeof(*groups));
	rd_kafka_AdminOptions_t *options = options_new(rk, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout_ms, NULL);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_event_t *event;
	size_t asked = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].partitions && *items[i].group &&
			(!asked || !text_equal(groups[asked - 1], items[i].group)))
			groups[asked++] = items[i].group;
	if (asked && kafka_has_controller(rk, timeout_ms)) {
		rd_kafka_DescribeConsumerGroups(rk, groups, asked, options, queue);
		event = rd_kafka_queue_poll(queue, timeout_ms);
		if (event && !rd_kafka_event_error(event))
			members_take(event, items, count);
		rd_kafka_event_destroy(event);
	}
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
}

/* ---- measuring ---- */

/* The committed offsets are read before the ends: a lag may be too high, and is never too low. */
void kafka_groups_measure(
	struct kafka_producer *producer, struct kafka_group_topic *items, size_t count, int timeout_ms)
{
	rd_kafka_t *rk = kafka_producer_client(producer);

	for (size_t i = 0; i < count; i++)
		items[i] = (struct kafka_group_topic){.group = items[i].group, .topic = items[i].topic, .members = -1};
	partitions_read(rk, items, count, timeout_ms);
	committed_read(rk, items, count, timeout_ms);
	offsets_read(rk, items, count, false, timeout_ms);
	offsets_read(rk, items, count, true, timeout_ms);
	members_read(rk, items, count, timeout_ms);
}

int64_t kafka_position_lag(const struct kafka_position *position)
{
	int64_t from = position->committed > position->start ? position->committed : position->start;

	return position->end > from ? position->end - from : 0;
}

int64_t kafka_group_topic_lag(const struct kafka_group_topic *item)
{
	int64_t lag = 0;

	for (size_t i = 0; i < item->partitions; i++)
		lag += kafka_position_lag(&item->positions[i]);
	return lag;
}

bool kafka_group_topic_is_new(const struct kafka_group_topic *item)
{
	for (size_t i = 0; i < item->partitions; i++)
		if (item->positions[i].committed < 0)
			return true;
	return false;
}

static rd_kafka_resp_err_t commit_error(rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t error = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
	const rd_kafka_group_result_t **groups;
	const LIST *list;
	size_t count = 0;

	if (error)
		return error;
	groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(
		rd_kafka_event_AlterConsumerGroupOffsets_result(event), &count);
	error = group_error(groups, count);
	list = count ? rd_kafka_group_result_partitions(groups[0]) : NULL;
	for (int i = 0; list && i < list->cnt && !error; i++)
		error = list->elems[i].err;
	return error;
}

int kafka_group_commit(struct kafka_producer *producer, const struct kafka_group_topic *item, const int64_t *offsets,
	int timeout_ms, struct err *err)
{
	rd_kafka_t *rk = kafka_producer_client(producer);
	_cleanup_(list_freep) LIST *list = item_list(item, offsets);
	rd_kafka_AlterConsumerGroupOffsets_t *call = rd_kafka_AlterConsumerGroupOffsets_new(item->group, list);
	rd_kafka_AdminOptions_t *options =
		options_new(rk, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS, timeout_ms, NULL);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_resp_err_t error;
	rd_kafka_event_t *event;

	rd_kafka_AlterConsumerGroupOffsets(rk, &call, 1, options, queue);
	event = rd_kafka_queue_poll(queue, timeout_ms);
	error = commit_error(event);
	rd_kafka_event_destroy(event);
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_AlterConsumerGroupOffsets_destroy(call);
	return error ? err_set(err, ERR_UNAVAILABLE, "%s: %s", item->group, rd_kafka_err2str(error)) : 0;
}
