-- SPDX-License-Identifier: MPL-2.0
-- outside a transaction

drop index concurrently if exists comments_created;
create index concurrently comments_created on comments (created_at);
