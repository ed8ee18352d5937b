-- SPDX-License-Identifier: MPL-2.0

-- shape: identity_provider
-- total bigint optional, id text, kind text, name text, issuer text, is_enabled boolean, settings jsonb,
-- secret_sealed bytea null, token_days integer, created_at timestamptz

-- fragment: provider_columns()
-- Columns of the shape `identity_provider`.
id, kind, name, issuer, is_enabled, settings, secret_sealed, token_days, created_at;

-- statement: identity_provider_read
-- The provider of that id.
-- reads: identity_providers
-- takes: id text
-- gives: identity_provider
select :provider_columns() from identity_providers where id = :id;

-- statement: identity_provider_of_kind
-- The oldest provider of that kind.
-- reads: identity_providers
-- takes: kind text
-- gives: identity_provider
select :provider_columns() from identity_providers where kind = :kind order by created_at, id limit 1;

-- statement: identity_providers_list
-- One page of the providers of that kind.
-- reads: identity_providers
-- takes: kind text, limit bigint, offset bigint
-- gives: identity_provider
select n.total, f.*
from (select count(*) as total from identity_providers where kind = :kind) n
left join (
    select :provider_columns()
    from identity_providers
    where kind = :kind
    order by lower(name), id
    limit :limit
    offset :offset
) f on true
order by lower(f.name), f.id;

-- statement: identity_providers_enabled
-- All enabled providers.
-- reads: identity_providers
-- gives: identity_provider
select :provider_columns() from identity_providers where is_enabled order by lower(name), id;

-- statement: identity_provider_create
-- Creates a provider.
-- takes: id text, kind text, name text, issuer text, is_enabled boolean, settings jsonb, secret_sealed bytea,
-- token_days integer
insert into identity_providers (id, kind, name, issuer, is_enabled, settings, secret_sealed, token_days)
values (:id, :kind, :name, :issuer, :is_enabled, jsonb_strip_nulls(:settings::jsonb), :secret_sealed, :token_days);

-- statement: identity_provider_update
-- Changes what is not null. The secret changes if `has_secret`.
-- reads: identity_providers
-- takes: id text, name text, issuer text, is_enabled text, settings jsonb, has_secret boolean,
-- secret_sealed bytea, token_days text
update identity_providers
set name = coalesce(:name, name), issuer = coalesce(:issuer, issuer),
    is_enabled = coalesce(:is_enabled::text::boolean, is_enabled),
    settings = jsonb_strip_nulls(settings || coalesce(:settings::jsonb, '{}')),
    secret_sealed = case when :has_secret::boolean then :secret_sealed else secret_sealed end,
    token_days = coalesce(:token_days::text::integer, token_days), updated_at = now()
where id = :id;

-- statement: identity_provider_delete
-- Deletes the provider with its sessions and tokens.
-- reads: identity_providers
-- takes: id text
delete from identity_providers where id = :id;
