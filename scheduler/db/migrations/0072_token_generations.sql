-- SPDX-License-Identifier: MPL-2.0
-- Which token a call was made with: the provider's refusal of an older token does not concern the newer one.
create sequence token_generations;
alter table vcs_tokens add column generation bigint not null default nextval('token_generations');
alter table vcs_installations add column generation bigint not null default nextval('token_generations');
alter table vcs_calls add column token_generation bigint; -- of the last claim; null: none
