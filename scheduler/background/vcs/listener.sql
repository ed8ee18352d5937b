-- SPDX-License-Identifier: MPL-2.0

-- statement: listener_notify
-- Wakes the threads of that channel in the other schedulers.
-- takes: channel text
select pg_notify(:channel, '');
