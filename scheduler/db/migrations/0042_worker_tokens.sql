-- SPDX-License-Identifier: MPL-2.0
-- The agent token that a worker registered with, as it was then: it is still shown after the token is revoked.
alter table workers add column token_id text;
alter table workers add column token_description text;
