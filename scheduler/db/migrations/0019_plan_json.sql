-- SPDX-License-Identifier: MPL-2.0
-- A plan's JSON and schemas may come after its result: whoever made the plan is known by the token it had.

alter table operations add column upload_hash text;
