-- SPDX-License-Identifier: MPL-2.0

-- statement: maintenance_read
-- The site's maintenance: on if there is a reason.
-- reads: maintenance
-- gives: reason text null, since text, is_resuming boolean, changes bigint
select reason, to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since, is_resuming,
    changes
from maintenance;

-- statement: maintenance_lock_timeout
-- Bounds the wait of maintenance_lock.
set local lock_timeout = '5s';

-- statement: maintenance_lock
-- Waits for transactions that have read the row, and makes new ones wait for this transaction.
lock table maintenance in access exclusive mode;

-- statement: maintenance_update
-- Begins maintenance with the reason, or ends it: null. Runs resume after its end.
-- reads: maintenance
-- takes: reason text
update maintenance
set since = case when (reason is null) = (:reason::text is null) then since else now() end,
    is_resuming = is_resuming and :reason::text is null or reason is not null and :reason::text is null,
    reason = :reason, changes = changes + 1;

-- statement: maintenance_resumed
-- Records that runs have resumed, unless maintenance was switched again.
-- reads: maintenance
-- takes: changes bigint
update maintenance set is_resuming = false where changes = :changes and is_resuming;
