-- SPDX-License-Identifier: MPL-2.0
-- Keys that sign the identities of runs. A key signs from `signs_from` on, until the next one does. It is published from its
-- creation until a week after that.
create table workload_keys (
	id text primary key, -- the JWK thumbprint
	public_key jsonb not null, -- a JWK
	private_sealed bytea not null, -- PEM
	signs_from timestamptz not null unique,
	created_at timestamptz not null default now()
);
