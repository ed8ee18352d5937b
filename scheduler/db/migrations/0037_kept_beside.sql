-- SPDX-License-Identifier: MPL-2.0
-- A state that was kept beside and is hidden by now: one again when it is restored.
alter table state_versions add column beside boolean not null default false;
