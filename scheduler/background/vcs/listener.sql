-- SPDX-License-Identifier: MPL-2.0

-- statement: listener_notify
-- takes: channel text
select pg_notify(:channel, '');
