/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STORE_H
#define SCHEDULER_STORE_STORE_H

/* The context of a thread that works on stored data: a connection, the keys, the settings, and whose view it has. */

#include <time.h>

#include "common/crypto.h"
#include "common/ids.h"
#include "scheduler/db/db.h"

struct contents;
struct github_app;
struct guard;
struct objects;
struct outbox_sink;
struct response_scope;

/* The time limits of run tasks. */
struct task_limits {
	int delivery_seconds; /* seconds from delivery to its acknowledgement */
	int progress_seconds; /* seconds without progress after that */
	int total_seconds;    /* seconds in total, whatever the task reports */
};

/* The replication of commits to PostgreSQL's standby. It decides what a failover may lose. */
enum replication {
	REPLICATION_NONE,
	REPLICATION_ASYNC,
	REPLICATION_SYNC,
};

/* The same for the whole process. */
struct store_settings {
	const char *public_url;    /* without a trailing slash */
	const char *grafana_url;   /* of the operators' dashboards; "": none */
	const char *egress_ranges; /* from which the site calls services, separated by commas; "": not known */
	bool has_provider_mirror;  /* engines can install providers from this server (api/registry/mirror) */
	time_t started_at;
	enum replication replication;
	int lease_seconds;
	int hold_alert_seconds;  /* a hold that lasts longer raises an alert (store/runs/holds.h) */
	int assessment_hours;    /* the time between two health assessments of a workspace */
	int assessments_percent; /* share of a pool's slots that assessments may take; 0: none are made */
	struct task_limits task_limits;
	int notification_seconds;            /* how long delivery of a notification is retried */
	const struct guard *task_guard;      /* allowed targets of run tasks and notifications (common/http/guard.h) */
	const struct guard *vcs_guard;       /* allowed addresses of VCS providers */
	const struct guard *identity_guard;  /* allowed addresses of identity providers */
	const struct github_app *github_app; /* the site's GitHub App (store/vcs/github_app.h); NULL: none */
	const struct objects *rescue; /* the object store of rescue objects (store/content/rescues.h); NULL: none */
};

struct store {
	struct db *db; /* the thread's own */
	const struct keyring *keyring;
	const struct store_settings *settings;
	const struct outbox_sink *sink; /* notified of committed messages, or NULL (outbox/outbox.h) */
	/* Of one request: */
	const struct response_scope
		*scope;            /* of its user (store/access/response_scope.h); NULL: the scheduler itself */
	struct contents *contents; /* fetched objects (store/content/contents.h), or NULL */
};

/* The part of a list that is read. */
struct list_range {
	long long limit, offset;
};

/* Reads the installation's id, which every migrated database has. */
int store_installation(struct db *db, struct id *ret_id, struct err *err);
/* Records that a backup has succeeded just now. */
int store_backup_mark(struct db *db, struct err *err);

#endif
