# SPDX-License-Identifier: MPL-2.0
"""The import http of Sentinel-language policies: runyard-policy and real servers."""

import json
import os
import shutil
import subprocess
import time
from urllib.parse import quote

import pytest

from support.authority import Authority
from support.policy_server import PolicyServer
from support.process import clean_environment, program
from support.resolver import Resolver

PASSED, RUNTIME, OTHER = 0, 3, 9
SECRET = "secret-of-the-policy"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def servers(authority):
    """A server with TLS, and one without."""
    servers = {"https": PolicyServer(authority.issue()), "http": PolicyServer()}
    yield servers
    for server in servers.values():
        server.release()


@pytest.fixture
def server(servers):
    servers["http"].seen.clear()
    return servers["http"]


@pytest.fixture
def secure(servers):
    return servers["https"]


@pytest.fixture
def evaluate(tmp_path):
    """evaluate(SOURCE): the exit code, standard output and standard error. The source follows `import "http"`, and may name
    the parameters that are given."""

    def evaluate(source, hosts="127.0.0.1", flags=(), before=(), environment=None, **params):
        path = tmp_path / "policy.sentinel"
        path.write_text('import "http"\nimport "json"\n' + "".join(f"param {name}\n" for name in params) + source)
        given = [f"-param={name}={value}" for name, value in params.items()]
        allowed = [f"-http-hosts={hosts}"] if hosts else []
        done = subprocess.run([*before, program("runyard-policy"), "eval", "-trace", *allowed, *given, *flags, path.name], cwd=tmp_path, capture_output=True, timeout=60,
                              env=clean_environment(**environment or {}))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return evaluate


def reason(errors):
    """The message without its place."""
    first = errors.splitlines()[0] if errors else ""
    assert first.startswith("policy.sentinel:"), errors
    return first.split(": ", 1)[1]


# ---- requests and answers ----

def redirects(count):
    """The path that leads to /echo after so many redirects."""
    path = "/echo"
    for _ in range(count):
        path = "/to?url=" + quote(path, safe="/")
    return path


ANSWERS = {
    "a get": 'http.get(url + "/echo").status_code is 200',
    "a request": 'http.get(http.request(url + "/echo")).status_code is 200',
    "the method get": 'json.unmarshal(http.get(url + "/echo").body).method is http.methodGet',
    "the method post": 'json.unmarshal(http.post(url + "/echo").body).method is http.methodPost',
    "send without a body": 'json.unmarshal(http.send(http.request(url + "/echo")).body).method is "GET"',
    "send with a body": 'json.unmarshal(http.send(http.request(url + "/echo").with_body("b")).body).method is "POST"',
    "send with a method": 'json.unmarshal(http.send(http.request(url + "/echo").with_method("POST")).body).method is "POST"',
    "a body": 'json.unmarshal(http.post(http.request(url + "/echo").with_body("a\\nb")).body).body is "a\\nb"',
    "no type of a body": 'keys(json.unmarshal(http.post(http.request(url + "/echo").with_body("a")).body).headers) not contains "Content-Type"',
    "a header": 'json.unmarshal(http.get(http.request(url + "/echo").with_header("X-One", "1")).body).headers["X-One"] is "1"',
    "an empty header": 'json.unmarshal(http.get(http.request(url + "/echo").with_header("X-One", "")).body).headers["X-One"] is ""',
    "the last header of a name": 'json.unmarshal(http.get(http.request(url + "/echo").with_header("X-One", "1").with_header("x-one", "2")).body).headers["x-one"] is "2"',
    "a request that stays as it is": 'one = http.request(url + "/echo")\none.with_header("X-One", "1")\nx = keys(json.unmarshal(http.get(one).body).headers) not contains "X-One"',
    "a user and a password": 'json.unmarshal(http.get(http.request(url + "/echo").with_basic_auth("ada", "pass:word")).body).headers["Authorization"] is "Basic YWRhOnBhc3M6d29yZA=="',
    "a query": 'json.unmarshal(http.get(url + "/echo?a=b&c").body).path is "/echo?a=b&c"',
    "a client": 'http.client.with_timeout(5).with_retries(2).get(url + "/echo").status_code is 200',
    "functions of the import": 'http.with_timeout(5).with_retries(2).get(url + "/echo").status_code is 200',
    "an accepted status": 'http.accept_status_codes([200, 404]).get(url + "/status/404").status_code is 404',
    "names of headers": 'http.get(url + "/echo").headers["Content-Type"] is "application/json"',
    "two headers of a name": 'http.get(url + "/twice").headers["X-Word"] is "one, two" and http.get(url + "/twice").headers["X-Empty"] is ""',
    "a folded header": 'length(filter keys(http.get(url + "/twice").headers) as _, name { name contains "wo:" or name contains " " }) is 0',
    "bytes": 'http.get(url + "/bytes").body is "\\x00\\xff\\n"',
    "a large body": 'length(http.get(url + "/size/8388608").body) is 8388608',
    "large headers": 'length(http.get(url + "/head/64000").headers["X-Long"]) is 60000',
    "a redirect": 'json.unmarshal(http.get(url + "/to?url=/echo").body).path is "/echo"',
    "ten redirects": f'http.get(url + "{redirects(10)}").status_code is 200',
    "a redirect of a post": 'json.unmarshal(http.post(http.request(url + "/to?url=/echo").with_body("b")).body).method is "GET"',
    "a redirect that keeps the post": 'json.unmarshal(http.post(http.request(url + "/to?url=/echo&status=307").with_body("b")).body).body is "b"',
    "headers of a redirect to the same origin": 'json.unmarshal(http.get(http.request(url + "/to?url=/echo").with_header("X-One", "1")).body).headers["X-One"] is "1"',
    "headers of the last answer alone": 'keys(http.get(url + "/to?url=/echo").headers) not contains "Location"',
    "the fields of a client": """client = http.with_timeout(5).with_retries(3).accept_status_codes([404, 200]).without_certificate_verification()
x = [client.timeout, client.retries, client.accepted_status_codes, client.certificate_verification] is [5, 3, [200, 404], false]""",
    "the fields of a request": """original = http.request("http://example.com/a?b").with_header("Foo", "bar").with_body("text")
both = original.with_header("Foo", original.headers["Foo"] + ",baz")
x = [original.url, original.headers["Foo"], original.body, both.headers, http.request(url).body] is ["http://example.com/a?b", "bar", "text", {"Foo": "bar,baz"}, ""]""",
    "a retry that is not asked for": 'http.get(url + "/statuses/503,200").status_code is 200',
    "a retry": 'http.with_retries(2).get(url + "/statuses/503,429,200").status_code is 200',
    "no retry of an accepted status": 'http.with_retries(2).accept_status_codes([502]).get(url + "/statuses/502,200").status_code is 502',
    "a field that is missing": 'http.get(url + "/echo").status is undefined',
}


@pytest.mark.parametrize("case", ANSWERS)
def test_answers(evaluate, server, case):
    *statements, last = ANSWERS[case].split("\n")
    code, out, errors = evaluate("\n".join([*statements, "main = rule { " + last.removeprefix("x = ") + " }"]), url=server.url)
    if "is undefined" in last:
        assert code == 2, out + errors
    else:
        assert code == PASSED, out + errors


ERRORS = {
    "a status": ('http.get(url + "/status/404")', "http: GET ORIGIN: the status is 404, which is not accepted"),
    "200 when it is not accepted": ('http.accept_status_codes([404]).get(url + "/echo")', "http: GET ORIGIN: the status is 200, which is not accepted"),
    "no status": ('http.accept_status_codes([]).get(url + "/echo")', "http: GET ORIGIN: the status is 200, which is not accepted"),
    "too few retries": ('http.with_retries(1).post(url + "/statuses/500,501,200")', "http: POST ORIGIN: the status is 501, which is not accepted"),
    "a body that is too large": ('http.get(url + "/size/8388609")', "http: GET ORIGIN: the answer has more than 8 MiB, or its headers more than 64 KiB"),
    "headers that are too large": ('http.get(url + "/head/70000")', "http: GET ORIGIN: the answer has more than 8 MiB, or its headers more than 64 KiB"),
    "a slow body": ('http.with_timeout(1).get(url + "/slow")', "http: GET ORIGIN: there was no complete answer in time"),
    "no answer": ('http.with_timeout(1).get(url + "/silent")', "http: GET ORIGIN: there was no complete answer in time"),
    "eleven redirects": (f'http.get(url + "{redirects(11)}")', "http: GET ORIGIN: redirected to ORIGIN: more than 10 redirects"),
    "a redirect to a file": ('http.get(url + "/to?url=file:///etc/passwd")', "http: GET ORIGIN: redirected to file://: the URL is not an http or https URL"),
    "a redirect with a password": (f'http.get(url + "/to?url=http://ada:{SECRET}@127.0.0.1/")', "http: GET ORIGIN: redirected to a URL with a user name or a password"),
    "a file": ('http.get("file:///etc/passwd")', "http: GET file://: the URL is not an http or https URL"),
    "a relative URL": ('http.get("/etc/passwd")', "http: GET : the URL is not an http or https URL"),
    "no URL": ('http.get("")', "http: GET : the URL is not an http or https URL"),
    "a URL with a password": (f'http.get("http://ada:{SECRET}@127.0.0.1/")', "http: the URL has a user name or a password: use with_basic_auth"),
    "a URL with a line end": ('http.get(url + "/a\\r\\nX: y")', "http: the URL has a space or a control character"),
    "a long URL": ('import_free = url\nfor range(10) as _, i { import_free += import_free }\nhttp.get(import_free)', "the limit of a URL's length, 8 KiB, is reached"),
    "a number": ("http.get(1)", "argument 1 of get must be a URL or a request, not int"),
    "null": ("http.post(null)", "argument 1 of post must be a URL or a request, not null"),
    "a map": ('http.send({"url": "x"})', "argument 1 of send must be a URL or a request, not map"),
    "a map with a function": ('http.send({"with_header": func(a, b) { return 1 }})', "argument 1 of send must be a URL or a request, not map"),
    "a client": ("http.get(http.client)", "argument 1 of get must be a URL or a request, not map"),
    "a request of a number": ("http.request(1)", "argument 1 of request must be a string, not int"),
    "a header that is no text": ('http.request(url).with_header("A", 1)', "argument 2 of with_header must be a string, not int"),
    "a header of null": ('http.request(url).with_header("A", null)', "argument 2 of with_header must be a string, not null"),
    "the name of a header": ('http.request(url).with_header("A B", "1")', "with_header: the first argument is no name of a header"),
    "no name of a header": ('http.request(url).with_header("", "1")', "with_header: the first argument is no name of a header"),
    "a header with a line end": (f'http.request(url).with_header("A", "{SECRET}\\r\\nB: 1")', "with_header: an argument has a line end or a zero byte"),
    "the host": ('http.request(url).with_header("host", "example.com")', "with_header: the header host can't be set"),
    "the length": ('http.request(url).with_header("Content-Length", "1")', "with_header: the header Content-Length can't be set"),
    "a proxy's header": ('http.request(url).with_header("Proxy-Authorization", "1")', "with_header: the header Proxy-Authorization can't be set"),
    "large headers": ('text = "x"\nfor range(16) as _, i { text += text }\nhttp.request(url).with_header("A", text)', "the limit of a request's headers, 64 KiB, is reached"),
    "a large password": ('text = "x"\nfor range(17) as _, i { text += text }\nhttp.request(url).with_basic_auth("a", text)', "the limit of a request's headers, 64 KiB, is reached"),
    "a user with a colon": ('http.request(url).with_basic_auth("a:b", "c")', "with_basic_auth: the user name has a colon"),
    "a password that is no text": ('http.request(url).with_basic_auth("a", 1)', "argument 2 of with_basic_auth must be a string, not int"),
    "a body that is no text": ("http.request(url).with_body({})", "argument 1 of with_body must be a string, not map"),
    "a large body of a request": ('text = "x"\nfor range(24) as _, i { text += text }\nhttp.request(url).with_body(text)', "the limit of a request's body, 8 MiB, is reached"),
    "another method": ('http.request(url).with_method("DELETE")', "with_method: the method must be GET or POST"),
    "no time": ("http.with_timeout(0)", "with_timeout: the argument must be between 1 and 30"),
    "too much time": ("http.with_timeout(31)", "with_timeout: the argument must be between 1 and 30"),
    "time as a text": ('http.with_timeout("5")', "argument 1 of with_timeout must be an int, not string"),
    "too many retries": ("http.with_retries(11)", "with_retries: the argument must be between 0 and 10"),
    "fewer than no retries": ("http.with_retries(-1)", "with_retries: the argument must be between 0 and 10"),
    "a status that is none": ("http.accept_status_codes([99])", "accept_status_codes: the list must have ints between 100 and 599"),
    "a status as a text": ('http.accept_status_codes(["200"])', "accept_status_codes: the list must have ints between 100 and 599"),
    "a status without a list": ("http.accept_status_codes(200)", "argument 1 of accept_status_codes must be a list, not int"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(evaluate, server, case):
    source, message = ERRORS[case]
    code, out, errors = evaluate(source + "\nmain = true\n", url=server.url)
    assert (code, reason(errors)) == (RUNTIME, message.replace("ORIGIN", server.url)), out
    assert SECRET not in out + errors


BROKEN = ["cut", "hang"]


@pytest.mark.parametrize("path", BROKEN)
def test_a_broken_answer_is_an_error_after_the_retries(evaluate, server, path):
    code, _, errors = evaluate(f'http.with_retries(2).get(url + "/{path}")\nmain = true', url=server.url)
    assert code == RUNTIME and reason(errors).startswith(f"http: GET {server.url}: "), errors
    assert len(server.seen) == 3


def test_what_is_sent_again(evaluate, server):
    """Once unless the policy says how often; other statuses than these never."""
    for call in ('get(url + "/status/503")', 'with_retries(0).get(url + "/status/502")', 'with_retries(3).get(url + "/status/404")',
                 'with_retries(3).get(url + "/status/501")'):
        assert evaluate(f"http.{call}\nmain = true", url=server.url)[0] == RUNTIME
    assert [path for _, path, *_ in server.seen] == ["/status/503", "/status/503", "/status/502", "/status/404", "/status/501"]


def test_the_evaluation_s_time_is_the_most(evaluate, server):
    """The policy's own limits are longer."""
    begun = time.monotonic()
    code, _, errors = evaluate('http.with_timeout(30).with_retries(10).get(url + "/silent")\nmain = true', flags=["-timeout=1s"], url=server.url)
    assert (code, reason(errors)) == (RUNTIME, "the limit of time is reached (-timeout)")
    assert time.monotonic() - begun < 15


def test_answers_count_as_the_evaluation_s_memory(evaluate, server):
    code, _, errors = evaluate('kept = []\nfor range(10) as _, i { append(kept, http.get(url + "/size/8000000").body) }\nmain = true', flags=["-memory=32M"], url=server.url)
    assert (code, reason(errors)) == (RUNTIME, "the limit of memory is reached (-memory)")


def test_secrets_of_requests_are_not_shown(evaluate, server):
    """Neither in prints nor in traces nor in errors."""
    source = f"""
one = http.request(url + "/status/404?key={SECRET}").with_header("X-Key", "{SECRET}").with_basic_auth("ada", "{SECRET}").with_body("{SECRET}")
print(one, http.client, keys(one), values(one))
request = rule {{ one }}
main = rule {{ request is not null and http.get(one).status_code is 200 }}
"""
    code, out, errors = evaluate(source, url=server.url)
    assert code == RUNTIME and "with_header" in out
    assert SECRET not in out + errors
    assert server.seen[0][2]["X-Key"] == SECRET


# ---- where requests go ----

def test_it_is_off_without_hosts(evaluate, server):
    code, _, errors = evaluate("http.get(url)\nmain = true", hosts=None, url=server.url)
    assert code == RUNTIME and "--policy-network 1 and --policy-http-hosts" in reason(errors) and "-http-hosts" in reason(errors)
    assert server.seen == []


@pytest.mark.parametrize("hosts", ["127.0.0.1:x", "127.0.0.0/33", "a b", "https://example.com", "*.example.com"])
def test_a_list_of_hosts_that_is_none_is_refused(evaluate, hosts):
    code, out, errors = evaluate("main = true", hosts=hosts)
    assert code == OTHER and out == "" and errors.startswith("-http-hosts: "), errors


REFUSED = {
    "a host that is not listed": ("example.com", "URL", "127.0.0.1 is a loopback address, and no range of the allow-list has it"),
    "a public host that is not listed": ("example.com", "https://example.org", "example.org is not on the allow-list"),
    "a public address that is not listed": ("example.com", "http://1.1.1.1", "1.1.1.1 is not on the allow-list"),
    "another port": ("127.0.0.1:1", "URL", "127.0.0.1 is a loopback address, and no range of the allow-list has it"),
    "a domain's own name": (".example.com", "https://example.com", "example.com is not on the allow-list"),
    "the metadata": ("127.0.0.1", "http://169.254.169.254/latest", "169.254.169.254 is a cloud's metadata service, and no range of the allow-list has it"),
    "IPv4 in IPv6": ("example.com", "http://[::ffff:127.0.0.1]:PORT/echo", "::ffff:127.0.0.1 is a loopback address, and no range of the allow-list has it"),
    "the loopback by its name": ("localhost", "http://localhost:PORT/echo", "localhost is a loopback address, and no range of the allow-list has it"),
    "another form of the address": ("example.com", "http://2130706433:PORT/echo", None),
    "an octal address": ("example.com", "http://0177.0.0.1:PORT/echo", None),
    "a short address": ("example.com", "http://127.1:PORT/echo", None),
    "a host behind a backslash": ("example.com", "http://example.com\\@127.0.0.1:PORT/echo", None),
    "a redirect": ("127.0.0.1:PORT", "URL/to?url=http://169.254.169.254/", "redirected to http://169.254.169.254: 169.254.169.254 is a cloud's metadata service, and no range of the allow-list has it"),
    "a redirect to a name": ("127.0.0.1:PORT", "URL/to?url=https://example.com/", "redirected to https://example.com: example.com is not on the allow-list"),
    "a second redirect": ("127.0.0.1:PORT", "URL/to?url=/to%3Furl%3Dhttp://127.0.0.2/", "redirected to http://127.0.0.2: 127.0.0.2 is a loopback address, and no range of the allow-list has it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_requests_to_other_hosts_are_refused(evaluate, server, case):
    hosts, url, why = REFUSED[case]
    url = url.replace("URL", server.url).replace("PORT", str(server.port))
    code, _, errors = evaluate(f"http.with_retries(3).get({json.dumps(url)})\nmain = true", hosts=hosts.replace("PORT", str(server.port)))
    assert code == RUNTIME, errors
    assert why is None or reason(errors).endswith(f": {why}"), errors
    assert [path for _, path, *_ in server.seen if path == "/echo"] == []


ALLOWED = {
    "an address": ("127.0.0.1", "URL/echo"),
    "a range": ("127.0.0.0/8", "URL/echo"),
    "a port": ("127.0.0.1:PORT", "URL/echo"),
    "one of several": ("example.com, 10.0.0.0/8 ,127.0.0.1", "URL/echo"),
    "a name and its address": ("localhost,127.0.0.1,::1", "http://localhost:PORT/echo"),
    "an address in IPv6": ("127.0.0.1", "http://[::ffff:127.0.0.1]:PORT/echo"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_requests_to_listed_hosts_are_sent(evaluate, server, case):
    hosts, url = ALLOWED[case]
    url = url.replace("URL", server.url).replace("PORT", str(server.port))
    code, _, errors = evaluate(f"main = http.get({json.dumps(url)}).status_code is 200", hosts=hosts.replace("PORT", str(server.port)))
    assert code == PASSED, errors


def test_headers_go_to_the_first_origin_alone(evaluate, server):
    other = PolicyServer()
    source = f'http.get(http.request(url + "/to?url={other.url}/echo").with_header("X-Key", "{SECRET}").with_basic_auth("ada", "{SECRET}"))\nmain = true'
    code, _, errors = evaluate(source, url=server.url)
    other.release()
    assert code == PASSED, errors
    (_, _, headers, _), = other.seen
    assert not {"X-Key", "Authorization"} & set(headers) and server.seen[0][2]["X-Key"] == SECRET


def test_proxies_of_the_environment_are_not_used(evaluate, server):
    proxy = "http://127.0.0.1:1"
    code, _, errors = evaluate('main = http.get(url + "/echo").status_code is 200', url=server.url, environment={"http_proxy": proxy, "HTTP_PROXY": proxy, "ALL_PROXY": proxy, "all_proxy": proxy})
    assert code == PASSED, errors


def test_a_server_that_is_not_there(evaluate):
    closed = PolicyServer()
    closed.release()
    code, _, errors = evaluate("http.get(url)\nmain = true", url=closed.url)
    assert code == RUNTIME and reason(errors).startswith(f"http: GET {closed.url}: Failed to connect"), errors


# ---- TLS ----

def test_certificates_are_verified(evaluate, secure, authority):
    asks = 'main = http.get(url + "/echo").status_code is 200'
    trusted = {"SSL_CERT_FILE": authority.file}
    assert evaluate(asks, url=secure.url, environment=trusted)[0] == PASSED
    code, _, errors = evaluate(asks, url=secure.url)
    assert code == RUNTIME and "certificate" in reason(errors), errors
    unverified = 'main = http.without_certificate_verification().get(url + "/echo").status_code is 200'
    assert evaluate(unverified, url=secure.url)[0] == PASSED


def test_a_certificate_of_another_name_is_refused(evaluate, authority):
    server = PolicyServer(authority.issue("other", ["DNS:example.com"]))
    trusted = {"SSL_CERT_FILE": authority.file}
    code, _, errors = evaluate('http.get(url + "/echo")\nmain = true', url=server.url, environment=trusted)
    accepted = evaluate('main = http.without_certificate_verification().get(url + "/echo").status_code is 200', url=server.url, environment=trusted)
    server.release()
    assert code == RUNTIME and "SSL" in reason(errors), errors
    assert accepted[0] == PASSED


def test_redirects_do_not_lead_from_https_to_http(evaluate, secure, server, authority):
    code, _, errors = evaluate('http.get(url + "/to?url=" + other + "/echo")\nmain = true', url=secure.url, other=server.url, environment={"SSL_CERT_FILE": authority.file})
    assert (code, reason(errors)) == (RUNTIME, f"http: GET {secure.url}: redirected to {server.url}: a redirect must not lead from https to http")
    assert server.seen == []


# ---- names ----

def mounted(conf):
    """The beginning of a command that has this file as its resolv.conf."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"mount --bind {conf} /etc/resolv.conf && exec \"$@\"", "sh"]


@pytest.fixture
def named(evaluate, tmp_path):
    """named(ADDRESS, SOURCE, HOSTS): evaluates where a resolver of the test answers with address(name); the result, and the names
    that were asked for."""

    def named(address, source, hosts, **params):
        asked = []

        def answer(name):
            asked.append(name)
            return address(name)

        resolver = Resolver(answer)
        conf = tmp_path / "resolv.conf"
        conf.write_text(f"nameserver {resolver.at}\n")
        try:
            return evaluate(source, hosts=hosts, before=mounted(conf), **params), asked
        finally:
            resolver.release()

    return named


by_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root binds port 53 and mounts a resolv.conf")


@by_root
@pytest.mark.parametrize("address, what", [("127.0.0.1", "a loopback address"), ("10.0.0.1", "a private address"), ("169.254.169.254", "a cloud's metadata service")])
def test_a_listed_name_does_not_lead_to_private_addresses(named, server, address, what):
    (code, _, errors), asked = named(lambda name: address, "http.with_retries(2).get(url)\nmain = true", "policy.test", url=f"http://policy.test:{server.port}/echo")
    assert (code, reason(errors)) == (RUNTIME, f"http: GET http://policy.test:{server.port}: policy.test is {what}, and no range of the allow-list has it"), errors
    assert asked and server.seen == []


@by_root
def test_a_listed_name_leads_to_its_listed_address(named, server):
    (code, _, errors), _ = named(lambda name: "127.0.0.1", "main = http.get(url).status_code is 200", f"policy.test,127.0.0.1:{server.port}", url=f"http://policy.test:{server.port}/echo")
    assert code == PASSED, errors


@by_root
def test_a_name_that_is_not_listed_is_not_looked_up(named, server):
    (code, _, errors), asked = named(lambda name: "127.0.0.1", "http.get(url)\nmain = true", "policy.test,127.0.0.1", url=f"http://{SECRET}.example.com:{server.port}/echo")
    assert code == RUNTIME and reason(errors).endswith("is not on the allow-list")
    assert (asked, server.seen) == ([], [])


@by_root
def test_a_lookup_that_takes_too_long_ends_in_time(evaluate, tmp_path):
    """The C library asks for 10 s."""
    at, silent = Resolver.bound()
    conf = tmp_path / "resolv.conf"
    conf.write_text(f"nameserver {at}\n")
    begun = time.monotonic()
    with silent:
        code, _, errors = evaluate('http.with_timeout(1).get("http://policy.test/")\nmain = true', hosts="policy.test", before=mounted(conf))
    assert (code, reason(errors)) == (RUNTIME, "http: GET http://policy.test: there was no complete answer in time")
    assert time.monotonic() - begun < 8


@by_root
def test_a_name_whose_address_changes(named, server):
    """Each connection is checked: the first lookup gives a listed address, later ones the other. Its server must see no request."""
    other = PolicyServer(host="127.0.0.2", port=server.port)
    addresses = iter(["127.0.0.1"])
    source = 'first = http.get(url).status_code\nprint("first", first)\nhttp.get(url)\nmain = true'
    (code, out, errors), asked = named(lambda name: next(addresses, "127.0.0.2"), source, f"policy.test,127.0.0.1:{server.port}", url=f"http://policy.test:{server.port}/echo")
    other.release()
    assert code == RUNTIME and "first 200" in out, out + errors
    assert reason(errors).endswith("policy.test is a loopback address, and no range of the allow-list has it"), errors
    assert len(asked) >= 2 and len(server.seen) == 1 and other.seen == []
