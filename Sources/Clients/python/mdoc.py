"""A client of the mdoc verification server, for a relying party's backend. Python 3.11 or later, no dependency.

    client = Client("https://id.example", key)
    session = client.create_session({"protocols": ["openid4vp"], "return_url": "https://shop.example/done",
                                     "documents": [{"doc_type": "org.iso.18013.5.1.mDL", "age_over": [18]}]})
    # Send the visitor to session.url. Later, with what the browser brings back:
    done = client.session(session.id, result=True, response_code=code)

The server refuses with `Problem`: decide by its `code`. Every POST has an `Idempotency-Key`, so it is retried like a GET:
after a lost connection, 429 and 503.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = [
    "BadSignature", "Client", "Delivery", "Event", "Fault", "LastError", "Problem", "Report", "Session", "Verification",
    "Webhook",
]

JSON = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A member of the request that is wrong: its JSON pointer (RFC 6901), and the error in it."""

    pointer: str
    detail: str


class Problem(Exception):
    """A refusal of the server (RFC 9457), or a reply that is not the server's (`code` "")."""

    def __init__(self, status: int, body: JSON, retry_after: float | None = None):
        self.status = status
        self.code: str = body.get("code", "")
        self.title: str = body.get("title", f"HTTP status {status}")
        self.detail: str = body.get("detail", "")
        self.request_id: str | None = body.get("request_id")
        self.errors = [Fault(one["pointer"], one["detail"]) for one in body.get("errors", [])]
        self.retry_after = retry_after
        faults = "".join(f" {one.pointer or '/'}: {one.detail}." for one in self.errors)
        super().__init__(f"{self.code or status}: {self.detail or self.title}{faults} ({self.request_id})")


@dataclass(frozen=True)
class LastError:
    """Why a session or a verification failed, or why a session was canceled."""

    code: str
    json: JSON = field(repr=False)


@dataclass(frozen=True)
class Report:
    """The checks of one attempt. It has no personal data."""

    id: str | None
    checks: list[JSON]
    documents: list[JSON]
    json: JSON = field(repr=False)


@dataclass(frozen=True)
class Session:
    """A request to one person, and what came of it. `json` is the whole reply; it may have personal values."""

    id: str
    status: str
    livemode: bool
    created: int
    expires_at: int
    requests: list[JSON] = field(repr=False)
    digital_credential_requests: list[JSON] = field(repr=False)
    client_reference_id: str | None
    metadata: JSON = field(repr=False)
    client_secret: str | None = field(repr=False)
    url: str | None = field(repr=False)
    result: JSON | None = field(repr=False)
    report: Report | None = field(repr=False)
    last_error: LastError | None
    response_code: str | None = field(repr=False)
    json: JSON = field(repr=False)

    @property
    def has_ended(self) -> bool:
        return self.status not in ("requires_input", "processing")

    @property
    def is_verified(self) -> bool:
        return self.status == "verified"


@dataclass(frozen=True)
class Verification:
    """The verdict on a response that you received yourself. You own the single use of its challenge."""

    status: str
    result: JSON | None = field(repr=False)
    report: Report = field(repr=False)
    last_error: LastError | None
    json: JSON = field(repr=False)

    @property
    def is_verified(self) -> bool:
        return self.status == "verified"


@dataclass(frozen=True)
class Event:
    """The end of a session. Read the result from the session: an event has none."""

    id: str
    type: str
    created: int
    livemode: bool
    session: str
    status: str
    last_error: LastError | None
    json: JSON = field(repr=False)


@dataclass(frozen=True)
class Delivery:
    """The delivery of one event to one endpoint."""

    id: str
    event: str
    endpoint: str
    status: str
    attempts: int
    json: JSON = field(repr=False)


Value = TypeVar("Value")


class Client:
    """Calls the server at `url` with an API key.

    `timeout` is for one call, in seconds; `retries` are the calls after the first; `context` is for a private authority.
    """

    def __init__(
        self, url: str, key: str, *, timeout: float = 30, retries: int = 3, context: ssl.SSLContext | None = None
    ):
        self._url = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._retries = retries
        handlers: list[Any] = [_NoRedirects()]
        if context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)

    # Sessions

    def create_session(self, request: Mapping[str, Any], *, idempotency_key: str | None = None) -> Session:
        """`request` is the body of `POST /v1/verification_sessions`. One key makes one session, however often it is sent."""
        return _session(self._post("/v1/verification_sessions", request, idempotency_key))

    def session(self, id: str, *, result: bool = False, response_code: str | None = None) -> Session:
        """With `result` also its values; after a page or a link they need the `response_code` that the visitor brings back."""
        query = {"expand[]": "result" if result else None, "response_code": response_code}
        return _session(self._get(f"/v1/verification_sessions/{_part(id)}", query))

    def sessions(self, *, status: str | None = None, limit: int = 20) -> Iterator[Session]:
        """All sessions, newest first, read in pages of `limit`."""
        return self._pages("/v1/verification_sessions", {"status": status, "limit": limit}, _session)

    def submit(self, id: str, protocol: str, data: Any) -> Session:
        """Hands in a wallet's response. The reply has the result if the key has `results:read`."""
        body = {"protocol": protocol, "data": data}
        return _session(self._post(f"/v1/verification_sessions/{_part(id)}/submit", body))

    def wait(self, id: str, *, seconds: float = 300) -> Session:
        """Asks until the session has ended, or the time is over; prefer webhooks."""
        end, pause = time.monotonic() + seconds, 0.5
        while True:
            session = self.session(id)
            left = end - time.monotonic()
            if session.has_ended or left <= 0:
                return session
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, 5)

    def cancel(self, id: str, reason: str | None = None) -> Session:
        body = {} if reason is None else {"reason": reason}
        return _session(self._post(f"/v1/verification_sessions/{_part(id)}/cancel", body))

    def redact(self, id: str) -> Session:
        """Erases the session's data; the audit entry stays."""
        return _session(self._post(f"/v1/verification_sessions/{_part(id)}/redact", {}))

    def report(self, id: str) -> Report:
        return _report(self._get(f"/v1/verification_reports/{_part(id)}"))

    # What another stack received

    def verify(self, body: Mapping[str, Any]) -> Verification:
        """`body` is that of `POST /v1/verifications`: the response, what its transcript is made of, and the request."""
        json = self._post("/v1/verifications", body)
        return Verification(
            status=json["status"], result=json.get("result"), report=_report(json["report"]),
            last_error=_last_error(json), json=json)

    # Events

    def events(self, *, type: str | None = None, limit: int = 20) -> Iterator[Event]:
        """The events of the last 30 days, newest first."""
        return self._pages("/v1/events", {"type": type, "limit": limit}, _event)

    def event(self, id: str) -> Event:
        return _event(self._get(f"/v1/events/{_part(id)}"))

    def deliveries(self, *, status: str | None = None, limit: int = 20) -> Iterator[Delivery]:
        return self._pages("/v1/webhook_deliveries", {"status": status, "limit": limit}, _delivery)

    def retry_delivery(self, id: str) -> Delivery:
        return _delivery(self._post(f"/v1/webhook_deliveries/{_part(id)}/retry", {}))

    # Calls

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> JSON:
        present = {name: value for name, value in (query or {}).items() if value is not None}
        return self._call("GET", path + ("?" + urllib.parse.urlencode(present) if present else ""), None, {})

    def _post(self, path: str, body: Mapping[str, Any], key: str | None = None) -> JSON:
        headers = {"Content-Type": "application/json", "Idempotency-Key": key or str(uuid.uuid4())}
        return self._call("POST", path, json.dumps(body).encode(), headers)

    def _pages(self, path: str, query: JSON, read: Callable[[JSON], Value]) -> Iterator[Value]:
        after: str | None = None
        while True:
            page = self._get(path, {**query, "starting_after": after})
            yield from map(read, page["data"])
            if not page["has_more"] or not page["data"]:
                return
            after = page["data"][-1]["id"]

    def _call(self, method: str, path: str, body: bytes | None, headers: JSON) -> JSON:
        for attempt in range(self._retries + 1):
            try:
                return self._once(method, path, body, headers)
            except Problem as problem:
                # In progress means that the first call of a lost connection still runs.
                passes = problem.status in (429, 503) or problem.code == "api.idempotency_in_progress"
                pause = problem.retry_after
                # Never sooner than the server says: a longer pause is the caller's decision.
                if not passes or attempt == self._retries or (pause or 0) > 60:
                    raise
            except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.IncompleteRead):
                if attempt == self._retries:
                    raise
                pause = None
            time.sleep(min(pause if pause is not None else 0.5 * 2**attempt, 60) * (1 + random.random() / 4))
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, body: bytes | None, headers: JSON) -> JSON:
        request = urllib.request.Request(self._url + path, data=body, method=method)
        for name, value in {"Authorization": f"Bearer {self._key}", "Accept": "application/json", **headers}.items():
            request.add_header(name, value)
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                status, value = reply.status, _object(reply.read())
            if not value:
                raise Problem(status, {"detail": "The reply is not a JSON object."})
            return value
        except urllib.error.HTTPError as error:
            with error:
                after = error.headers.get("Retry-After", "")
                raise Problem(error.code, _object(error.read()), float(after) if after.isdigit() else None) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The server never redirects, and the key goes nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class BadSignature(Exception):
    """The message is not the server's, was changed, or is too old."""


class Webhook:
    """Checks messages by the endpoint's secrets (`whsec_…`): while one is replaced, by both.

    `tolerance` is the greatest difference of the clocks, in seconds. A message may come more than once, with the same id.
    """

    def __init__(self, *secrets: str, tolerance: int = 300):
        self._keys = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in secrets]
        # With an empty key anyone could sign.
        if not self._keys or any(len(key) < 24 for key in self._keys):
            raise ValueError("a webhook needs secrets of at least 24 bytes")
        self._tolerance = tolerance

    def event(self, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
        """The event of a message that is genuine; raises BadSignature for every other. `body` is as it came."""
        found = {name.lower(): value for name, value in headers.items()}
        try:
            id, time_text = found["webhook-id"], found["webhook-timestamp"]
            signatures = found["webhook-signature"].split(" ")
            age = (time.time() if now is None else now) - int(time_text)
        except (KeyError, ValueError):
            raise BadSignature("a webhook-… header is missing or malformed") from None
        if abs(age) > self._tolerance:
            raise BadSignature("the message is too old or too new")
        content = f"{id}.{time_text}.".encode() + body
        expected = ["v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in self._keys]
        if not any(hmac.compare_digest(one.encode(), other.encode()) for one in signatures for other in expected):
            raise BadSignature("no signature fits")
        return _event(_object(body))


# Replies. A later version may have more members: they are in `json`.


def _part(id: str) -> str:
    return urllib.parse.quote(id, safe="")


def _object(text: bytes) -> JSON:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _last_error(json: JSON) -> LastError | None:
    error = json.get("last_error")
    return None if error is None else LastError(error["code"], error)


def _report(json: JSON) -> Report:
    return Report(json.get("id"), json["checks"], json["documents"], json)


def _session(json: JSON) -> Session:
    return Session(
        id=json["id"], status=json["status"], livemode=json["livemode"], created=json["created"],
        expires_at=json["expires_at"], requests=json.get("requests") or [],
        digital_credential_requests=json.get("digital_credential_requests") or [],
        client_reference_id=json.get("client_reference_id"), metadata=json.get("metadata") or {},
        client_secret=json.get("client_secret"), url=json.get("url"), result=json.get("result"),
        report=_report(json["report"]) if json.get("report") else None, last_error=_last_error(json),
        response_code=json.get("response_code"), json=json)


def _event(json: JSON) -> Event:
    session = json["data"]
    return Event(
        id=json["id"], type=json["type"], created=json["created"], livemode=json["livemode"], session=session["id"],
        status=session["status"], last_error=_last_error(session), json=json)


def _delivery(json: JSON) -> Delivery:
    return Delivery(json["id"], json["event"], json["endpoint"], json["status"], json["attempts"], json)
