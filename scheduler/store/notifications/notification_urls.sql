-- SPDX-License-Identifier: MPL-2.0

-- fragment: response_url_members()
-- A response's URL in the column `responses`, which notification_responses_open reads. `r` is
-- notification_responses.
'url', '', 'url-sealed', translate(encode(r.url_sealed, 'base64'), E'\n', '');
