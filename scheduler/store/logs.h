/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_LOGS_H
#define SCHEDULER_STORE_LOGS_H

/*
 * The logs of plans and applies (API 2.3). What a client reads is a stream of bytes: STX, then what the workers sent,
 * then ETX once the operation is over. The two marks are not stored: they follow from the operation's row.
 */

#include "scheduler/store/store.h"

/* Appends bytes that begin at `offset` (counted from the first byte after the STX). Bytes that are there already are
 * accepted again; a gap is ERR_CONFLICT, and *ret_length then says how long the log is. */
int log_append(struct store *store, const char *operation_id, long long offset, const void *bytes, size_t len,
	long long *ret_length, struct err *err);
/* Appends to ret_bytes what is in [offset, offset + limit) of the stream; nothing new is no error. ERR_NOT_FOUND. */
int log_read(struct store *store, const char *operation_id, long long offset, long long limit, struct buf *ret_bytes,
	struct err *err);

#endif
