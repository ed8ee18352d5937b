-- SPDX-License-Identifier: MPL-2.0

-- fragment: memberships()
-- Columns `organization_id` and `rights` of a user `u`: one row for each of their organizations, at least one
-- in all. A disabled organization is left out. A site admin needs none.
left join lateral (
    select m.organization_id, coalesce(bit_or(t.rights), 0) | case when u.is_service_account then 0
        else 4294967296 end as rights
    from organization_memberships m
    join organizations g on g.id = m.organization_id and not g.is_disabled
    left join team_members tm on tm.user_id = m.user_id and tm.organization_id = m.organization_id
    left join teams t on t.id = tm.team_id
    where m.user_id = u.id and m.status = 'active' and not u.is_site_admin
    group by m.organization_id
) o on true;

-- fragment: closed_to_tokens(user, created)
-- Those of a user's organizations that accept no personal tokens, or none as old as one that was made then.
select 't:' || x.id as which
from organizations x
join organization_memberships y on y.organization_id = x.id and y.user_id = :user
    and y.status = 'active'
where x.settings ->> 'user-tokens-enabled' = 'false'
union all
select 'a:' || x.id
from organizations x
join organization_memberships y on y.organization_id = x.id and y.user_id = :user
    and y.status = 'active'
join token_ttl_policies p on p.organization_id = x.id and p.token_type = 'user'
where x.settings ->> 'max-ttl-enabled' = 'true'
    and :created + p.max_ttl_ms * interval '1 millisecond' <= now();

-- fragment: closed_without_sso(user, provider)
-- Those of a user `u`'s organizations that accept only other identity providers.
select 's:' || q.organization_id as which
from organization_sso q
join organization_memberships y on y.organization_id = q.organization_id and y.user_id = :user
    and y.status = 'active'
where q.is_required and not u.is_break_glass
    and not exists (
        select 1
        from organization_providers a
        where a.organization_id = q.organization_id and a.provider_id = :provider
    );

-- fragment: closed(which)
-- The organizations that refuse the credential, as <reason>:<id> with a comma before and after each; or null.
-- auth/closed.h has the reasons.
(select ',' || string_agg(c.which, ',') || ',' from (:which) c);

-- fragment: token_limit(token, kind, organization)
-- The time after which the organization's limit ends a team's token; null if there is none.
(
    select :token.created_at + p.max_ttl_ms * interval '1 millisecond'
    from token_ttl_policies p
    join organizations x on x.id = p.organization_id and x.settings ->> 'max-ttl-enabled' = 'true'
    where p.organization_id = :organization and p.token_type = :token_kind(:kind)
);

-- fragment: has_factor(user)
-- The condition that a user has a second factor.
exists (select 1 from second_factors f where f.user_id = :user and f.is_confirmed);

-- fragment: closed_to_passwords(user)
-- Those of a user's organizations that need a second factor.
select 'f:' || x.id as which
from organizations x
join organization_memberships y on y.organization_id = x.id and y.user_id = :user
    and y.status = 'active'
where x.settings ->> 'collaborator-auth-policy' = 'two_factor_mandatory';

-- fragment: closed_without_factor(user, provider)
-- The same without those that accept the user: with a factor, or because an identity provider checks factors.
select w.which
from (:closed_to_passwords(:user)) w
where :provider is null and not :has_factor(:user);

-- fragment: admins_need_factor()
-- The condition that the site needs second factors of its admins.
(select s.settings ->> 'require-two-factor-for-admins' = 'true' from site_settings s) is true;

-- fragment: admin_without_factor(provider)
-- The condition that a user `u` is a site admin without the second factor that the site needs.
(u.is_site_admin and :provider is null and :admins_need_factor() and not :has_factor(u.id));

-- fragment: token_valid()
-- The condition that a token `k` is valid. One that was made through an identity provider ends when its owner no
-- longer comes from there. A team's or an organization's own token ends by the organization's limit.
(k.expired_at is null or k.expired_at > now())
    and (k.provider_id is null
            or exists (
                select 1
                from identities i
                join identity_providers p on p.id = i.provider_id
                where i.user_id = k.user_id and i.provider_id = k.provider_id
                    and (p.token_days = 0 or i.last_sign_in_at > now() - make_interval(days => p.token_days))
            ))
    and (
        k.team_id is null
        or not exists (
            select 1
            from teams l
            where l.id = k.team_id and :token_limit(k, l.kind, l.organization_id) <= now()
        )
    );

-- fragment: session_limits()
-- The limits `l` of a session `s` in minutes. The strictest of the user's organizations limits how long a
-- session lasts, in total and without use; two weeks if none sets a limit.
cross join lateral (
    select coalesce(min((x.settings ->> 'session-timeout')::bigint), 20160) as idle,
        coalesce(min((x.settings ->> 'session-remember')::bigint), 20160) as whole
    from organization_memberships y
    join organizations x on x.id = y.organization_id
    where y.user_id = s.user_id and y.status = 'active'
) l;

-- fragment: session_valid()
-- The condition that a session `s` with the limits `l` is valid. No limit is longer than sixty days. A session in
-- which a site admin acts as the user lasts an hour.
(s.impersonator_id is null
        or (s.created_at > now() - interval '1 hour' and exists (
                select 1 from users i where i.id = s.impersonator_id and i.is_site_admin and not i.is_suspended
            )))
    and s.last_seen_at > now() - make_interval(mins => least(l.idle, 86400)::int)
    and s.created_at > now() - make_interval(mins => least(l.whole, 86400)::int);
