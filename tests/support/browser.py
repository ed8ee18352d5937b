# SPDX-License-Identifier: MPL-2.0
"""A headless browser: it keeps cookies, follows redirects of the site, and fills in forms."""

import html.parser
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar


class Forms(html.parser.HTMLParser):
    """The page's forms, as {action, method, fields, buttons}, and its text."""

    def __init__(self, page):
        super().__init__()
        self.all, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.all.append({"action": attributes.get("action", ""), "fields": {}, "buttons": {}})
        elif tag == "input" and self.all and "name" in attributes:
            self.all[-1]["fields"][attributes["name"]] = attributes.get("value") or ""
        elif tag == "button" and self.all and "name" in attributes:
            self.all[-1]["buttons"][attributes["value"]] = attributes["name"]

    def handle_data(self, data):
        self.text += data


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    def __init__(self, url, trust=None, address=None):
        """address: its address as a trusted proxy forwards it."""
        self.url = url
        self.own_headers = {"X-Forwarded-For": address} if address else {}
        self.cookies = CookieJar()
        handlers = [urllib.request.HTTPCookieProcessor(self.cookies), NoRedirects()]
        if trust:
            handlers.append(urllib.request.HTTPSHandler(context=trust))
        self.opener = urllib.request.build_opener(*handlers)
        self.status, self.headers, self.page, self.at = 0, {}, "", url

    def ask(self, path, fields=None, headers=None, follow=True):
        """Sends a request and follows redirects within the site. Returns itself."""
        self.at = urllib.parse.urljoin(self.url, path)
        body = urllib.parse.urlencode(fields).encode() if fields is not None else None
        try:
            answer = self.opener.open(urllib.request.Request(self.at, data=body, headers={**self.own_headers, **(headers or {})}))
        except urllib.error.HTTPError as error:
            answer = error
        self.status, self.headers, self.page = answer.status, answer.headers, answer.read().decode()
        location = self.headers.get("Location")
        if follow and self.status == 303 and urllib.parse.urljoin(self.url, location).startswith(self.url):
            return self.ask(location)
        return self

    def form(self, action):
        """The fields of the page's form with that action."""
        return next(form for form in Forms(self.page).all if form["action"] == action)

    def send(self, action, press=None, **fields):
        """Fills in the form of the page and submits it with the button whose value is `press`."""
        form = self.form(action)
        pressed = {form["buttons"][press]: press} if press else {}
        return self.ask(action, {**form["fields"], **pressed, **fields})

    @property
    def text(self):
        return " ".join(Forms(self.page).text.split())

    @property
    def cookie(self):
        return next((c for c in self.cookies if c.name == "runyard_session"), None)

    def sign_in(self, username, password, path="/app/settings/tokens"):
        """Opens the page, by default one with forms, and signs in there."""
        self.ask(path)
        return self.send("/app/login", username=username, password=password)
