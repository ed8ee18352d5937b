/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_EXPIRY_H
#define SCHEDULER_STORE_CONTENT_EXPIRY_H

/*
 * Retention: deletes content that is old enough, in batches. The rows that describe it stay.
 *
 * A rule scans the events that make content due, in the order of time. Its position is stored in retention_marks. Logs
 * and plans become due with the end of their run; versions of states and configurations with the creation of a newer
 * one. So no row is scanned twice, and idle content is not scanned at all. A workspace's current state or newest
 * configuration is never due; its age counts from its replacement.
 *
 * The workspace's policy applies, else the organization's, else the site's options. A policy in days covers states and
 * configurations; one that says "don't delete" keeps everything. A change of a policy resets the rules' positions. Each
 * batch is one transaction. It writes one audit event per organization, which names the deleted content.
 *
 * States and configurations are deleted in two steps, as through the API: for `hidden_days` they can be restored.
 */

#include "scheduler/store/content/expiry_rules.h"

struct objects_settings;

/* Runs one batch of each rule. *ret_more: some rule has more work to do now. */
int expiry_run(struct store *store, const struct expiry_limits *limits, bool *ret_more, struct err *err);
/* The same for logs of ended runs that are to be packed for the object store (store/runs/logs.h). */
int packing_run(struct store *store, const struct objects_settings *settings, bool *ret_more, struct err *err);
/* Resets the position of every rule: a policy has changed. */
int expiry_restart(struct store *store, struct err *err);

#endif
