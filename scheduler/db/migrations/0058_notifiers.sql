-- SPDX-License-Identifier: MPL-2.0
-- Where schedulers reach the notifiers: run tasks' callbacks are passed on to them.
create table notifiers (
    url text primary key,
    seen_at timestamptz not null default now()
);
