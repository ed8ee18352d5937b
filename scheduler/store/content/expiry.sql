-- SPDX-License-Identifier: MPL-2.0

-- statement: mark_take_insert
-- takes: name text, scope text, setting bigint
with stale as (
    delete from retention_marks
    where rule = :name and scope = 'site' and :scope = 'site' and setting <> :setting
)
insert into retention_marks (rule, scope, setting)
values (:name, :scope, :setting)
on conflict do nothing;

-- statement: mark_take_lock
-- takes: name text, scope text, setting bigint
-- gives: at text, id text
select at::text as at, id
from retention_marks
where rule = :name and scope = :scope and setting = :setting
for update skip locked;

-- statement: mark_set
-- takes: name text, scope text, setting bigint, at timestamptz, id text
update retention_marks
set at = :at::timestamptz, id = :id
where rule = :name and scope = :scope and setting = :setting;

-- statement: expiry_run
-- gives: days integer null
select distinct delete_older_than_n_days as days
from data_retention_policies
where delete_older_than_n_days is not null;

-- statement: expiry_restart
-- takes: packing text
delete from retention_marks where rule <> :packing;
