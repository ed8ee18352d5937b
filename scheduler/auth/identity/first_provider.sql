-- SPDX-License-Identifier: MPL-2.0

-- statement: provider_of_issuer
-- A row if a provider has the issuer.
-- reads: identity_providers
-- takes: issuer text
select 1 from identity_providers where issuer = :issuer;
