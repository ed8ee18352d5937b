/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VCS_WEBHOOKS_H
#define SCHEDULER_API_VCS_WEBHOOKS_H

/*
 * Deliveries of VCS providers. Concurrent deliveries are committed in one transaction: 10 times the deliveries of a
 * transaction each, at 64 connections.
 */

#include "scheduler/http/batch.h"

extern const struct batch batch_deliveries;

#endif
