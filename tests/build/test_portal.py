"""The upload to Maven Central waits for the checks of the portal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from release import portal

from tests.support.paths import ROOT

PATH = "/api/v1/publisher"


@dataclass
class Portal:
    """A portal that answers with one state after the other, the last one for ever."""

    address: str = ""
    states: list[str] = field(default_factory=list)
    requests: list[tuple[str, str | None, bytes]] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, str]:
        if "/upload" in path:
            return 201, "28570f16\n"
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state == "down":
            return 503, "busy"
        return 200, f'{{"deploymentState": "{state}", "errors": {{"pom": ["no name"]}}}}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Portal]:
    found = Portal()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found.requests.append((self.path, self.headers.get("Authorization"), body))
            status, text = found.answer(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=http.serve_forever, daemon=True).start()
    found.address = (
        f"http://127.0.0.1:{http.server_port}{PATH}/upload?publishingType=USER_MANAGED"
    )
    monkeypatch.setenv("MAVEN_UPLOAD", found.address)
    monkeypatch.setenv("MAVEN_TOKEN", "dG9rZW4=")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield found
    http.shutdown()
    http.server_close()


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    file = tmp_path / "winops-1.2.0-maven.zip"
    file.write_bytes(b"PK\x00\r\nbytes")
    return str(file)


@pytest.mark.parametrize("last", ["VALIDATED", "PUBLISHING", "PUBLISHED"])
def test_a_bundle_that_the_portal_accepts_is_a_success(
    server: Portal, bundle: str, last: str
) -> None:
    server.states = ["PENDING", "down", "VALIDATING", last]
    assert portal.main([bundle], deadline=30, pause=0) == 0
    uploaded, *asked = server.requests
    assert uploaded[0] == f"{PATH}/upload?publishingType=USER_MANAGED"
    assert b'name="bundle"; filename="winops-1.2.0-maven.zip"' in uploaded[2]
    assert b"\r\n\r\nPK\x00\r\nbytes\r\n--" in uploaded[2]
    assert [path for path, _, _ in asked] == [f"{PATH}/status?id=28570f16"] * 4
    assert {authorization for _, authorization, _ in server.requests} == {"Bearer dG9rZW4="}


def test_a_bundle_that_the_portal_refuses_is_a_failure(
    server: Portal, bundle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.states = ["VALIDATING", "FAILED"]
    assert portal.main([bundle], deadline=30, pause=0) == 1
    assert "no name" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["VALIDATING", "down"])
def test_a_portal_that_does_not_answer_in_time_is_a_failure(
    server: Portal, bundle: str, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.states = [state]
    assert portal.main([bundle], deadline=0.1, pause=0.06) == 1
    assert "has not accepted it in 0 s" in capsys.readouterr().err


def test_another_address_than_that_of_an_upload_is_refused_before_anything_is_sent(
    server: Portal, bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAVEN_UPLOAD", server.address.replace("upload", "status"))
    assert portal.main([bundle], deadline=1, pause=0) == 1
    assert server.requests == []


def test_pypi_waits_for_the_job_that_waits_for_the_portal() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", workflow, re.MULTILINE))
    assert "python3 -m release.portal" in jobs["maven"]
    assert "needs: [build, maven]" in jobs["pypi"]
    assert "needs.maven.result == 'success'" in jobs["pypi"]
