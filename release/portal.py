"""Uploads the bundle to the portal of Maven Central and waits until the portal has checked it.

usage: python -m release.portal BUNDLE

MAVEN_UPLOAD is the address of the upload, such as
https://central.sonatype.com/api/v1/publisher/upload?publishingType=USER_MANAGED, and MAVEN_TOKEN
the base64 of the user and the password of a token, joined by a colon. The exit code is 0 if the
portal accepts the bundle.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

# Somebody publishes a validated deployment in the portal, or the portal does so itself.
_ACCEPTED = {"VALIDATED", "PUBLISHING", "PUBLISHED"}
_FAILED = "FAILED"
_BOUNDARY = "winops-bundle-4f1c2b7d9a"
_SECONDS = 120


class Refused(Exception):
    """The portal does not accept the bundle, or does not say so in time."""


def status_address(upload: str, deployment: str) -> str:
    """Return the address of the state of a deployment, beside that of the upload."""
    parts = urlsplit(upload)
    path = parts.path.rstrip("/")
    if not path.endswith("/upload"):
        raise Refused(f"MAVEN_UPLOAD is {upload}: the path of the portal ends with /upload")
    path = path.removesuffix("upload") + "status"
    return urlunsplit((parts.scheme, parts.netloc, path, f"id={quote(deployment)}", ""))


def send(bundle: Path, upload: str, token: str) -> str:
    """Upload a bundle and return the number of its deployment."""
    head = (
        f"--{_BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="bundle"; filename="{bundle.name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = head.encode() + bundle.read_bytes() + f"\r\n--{_BOUNDARY}--\r\n".encode()
    kind = f"multipart/form-data; boundary={_BOUNDARY}"
    deployment = _post(upload, token, body, {"Content-Type": kind}).decode().strip()
    if not deployment:
        raise Refused("The portal has returned no deployment")
    return deployment


def wait(address: str, token: str, *, deadline: float, pause: float) -> str:
    """Return the state in which the portal accepts a deployment.

    Parameters
    ----------
    address : str
        Where the portal says the state.
    token : str
        The token of the upload.
    deadline : float
        The seconds after which the wait is given up. Until then, a request that fails is made
        again, because the deployment goes on without it.
    pause : float
        The seconds between two requests.
    """
    ends = time.monotonic() + deadline
    said = "nothing"
    while True:
        try:
            answer: dict[str, Any] = json.loads(_post(address, token, b"", {}))
        except (OSError, HTTPException, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
        else:
            state = str(answer.get("deploymentState"))
            if state in _ACCEPTED:
                return state
            if state == _FAILED:
                raise Refused(f"The portal refuses it: {json.dumps(answer.get('errors'))}")
            said = state
        print(said, flush=True)
        if time.monotonic() + pause > ends:
            raise Refused(f"The portal has not accepted it in {deadline:.0f} s; last: {said}")
        time.sleep(pause)


def _post(address: str, token: str, body: bytes, headers: dict[str, str]) -> bytes:
    sent = {"Authorization": f"Bearer {token}", **headers}
    request = Request(address, data=body, headers=sent, method="POST")
    with urlopen(request, timeout=_SECONDS) as response:
        answer: bytes = response.read()
    return answer


def main(arguments: Sequence[str], *, deadline: float = 3600, pause: float = 15) -> int:
    (bundle,) = arguments
    upload, token = os.environ["MAVEN_UPLOAD"], os.environ["MAVEN_TOKEN"]
    try:
        # A wrong address fails before anything is sent.
        status_address(upload, "")
        deployment = send(Path(bundle), upload, token)
        print(f"deployment {deployment}", flush=True)
        address = status_address(upload, deployment)
        print(wait(address, token, deadline=deadline, pause=pause))
    except (Refused, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
