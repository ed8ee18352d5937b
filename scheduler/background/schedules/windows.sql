-- SPDX-License-Identifier: MPL-2.0

-- statement: windows_due
-- Runs whose window opens, the longest due first.
-- index: window_waits_opens
-- takes: max bigint
-- gives: run_id text
select run_id
from window_waits
where opens_at <= now()
order by opens_at
limit :max;

-- statement: window_postpone
-- Computes anew when the window of a run opens. A run that can't go on is looked at a minute later.
-- index: window_waits_pkey
-- takes: run_id text
update window_waits x
set opens_at = case when o.closed then coalesce(o.opens_at, 'infinity') else now() + interval '1 minute' end
from (
    select r.id, a.closed, a.opens_at
    from runs r, apply_window(r.workspace_id) a
    where r.id = :run_id
) o
where x.run_id = o.id;
