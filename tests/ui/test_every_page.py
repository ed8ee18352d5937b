# SPDX-License-Identifier: MPL-2.0
"""Every page can be read and used: in both themes, with forced colours, on a narrow screen, with large text, without a
mouse. The console stays empty, and no request leaves the site (support/pages.py)."""

import pytest

from support import pages
from support.rich_site import ALL_PAGES, PAGES, patterns


def test_every_route_has_a_row():
    assert sorted(PAGES) == sorted(patterns())


@pytest.mark.parametrize("pattern", ALL_PAGES)
def test_a_page_is_readable_in_every_theme_and_size(visit, pattern):
    page = visit(pattern, ALL_PAGES[pattern])
    pages.check_themes(page)
    pages.check_forced_colors(page)
    pages.check_narrow(page)
    pages.check_large_text(page)
    pages.check_every_focus(page)
