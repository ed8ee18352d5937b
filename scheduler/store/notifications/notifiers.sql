-- SPDX-License-Identifier: MPL-2.0

-- statement: notifier_seen
-- Records a notifier, at most every 5 seconds unless it has changed, and deletes old records.
-- reads: notifiers
-- takes: url text, name text, version text, protocol integer
with old as (delete from notifiers where seen_at < now() - interval '1 hour' and url <> :url)
insert into notifiers (url, name, version, protocol)
values (:url, :name, :version, :protocol)
on conflict (url) do update set seen_at = now(), name = :name, version = :version, protocol = :protocol
where notifiers.seen_at < now() - interval '5 seconds' or notifiers.version <> :version
    or notifiers.protocol <> :protocol;

-- statement: notifiers_live
-- First those that claimed within 15 seconds, in random order.
-- reads: notifiers
-- takes: max bigint
-- gives: url text
select url
from notifiers
where seen_at > now() - interval '2 minutes'
order by seen_at < now() - interval '15 seconds', random()
limit :max;
