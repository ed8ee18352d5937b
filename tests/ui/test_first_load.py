# SPDX-License-Identifier: MPL-2.0
"""What the first page loads."""

from playwright.sync_api import expect

LIMIT = 60_000  # bytes of gzip: scripts, styles and HTML
REQUESTS = 8


def test_the_first_load_is_small(browser_page, visitors, site):
    signed_in = browser_page("/app")
    expect(signed_in.get_by_role("heading", name="Organizations")).to_be_visible()
    page = visitors(site.scheduler.url, storage_state=signed_in.context.storage_state())
    loaded = []
    page.on("requestfinished", lambda request: loaded.append(request))
    page.goto("/app")
    expect(page.get_by_role("link", name="acme", exact=True).last).to_be_visible()
    own = [request for request in loaded if "/api/" not in request.url]
    sizes = {request.url: request.sizes()["responseBodySize"] for request in own}
    assert sum(sizes.values()) < LIMIT, sizes
    assert len(own) <= REQUESTS, sizes
