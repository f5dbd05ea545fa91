"""The hand-written client's flow. The environment is that of flow.py."""

import http.server
import json
import os
import pathlib
import threading
import time

from mdoc import BadSignature, Client, Problem, Webhook

MDL = "org.iso.18013.5.1.mDL"
URL, ORIGIN, KEY = (os.environ[name] for name in ("MDOC_URL", "MDOC_ORIGIN", "MDOC_KEY"))
client = Client(URL, KEY, retries=1)


def asking(protocol):
    element = {"namespace": "org.iso.18013.5.1", "identifier": "given_name"}
    if protocol == "apple-in-app":
        element = {"apple_element": "givenName"}
    body = {
        "protocols": [protocol], "client_reference_id": "order-17",
        "documents": [{"doc_type": MDL, "elements": [element], "age_over": [21]}],
    }
    return body if protocol in ("apple-in-app", "openid4vp") else {**body, "origin": ORIGIN}


def respond(session, variant="good", path="mock_responses"):
    """What the mock wallet responds; only test mode has it, and so no client."""
    return client._post(f"/v1/test/{path}", {"session": session.id, "variant": variant})


def refused(code, call):
    try:
        call()
    except Problem as problem:
        assert problem.code == code and problem.request_id, problem
        return problem
    raise AssertionError(f"{code} expected")


def verified(protocol):
    session = client.create_session(asking(protocol))
    assert session.status == "requires_input" and session.client_secret and session.requests and not session.has_ended
    response = respond(session)
    done = client.submit(session.id, response["protocol"], response["data"])
    assert done.is_verified and done.result["documents"][0]["age_over"][0]["answer"] is True
    assert client.report(done.report.id).documents[0]["checks"]
    assert client.wait(session.id, seconds=5).is_verified
    again = refused("session.already_used", lambda: client.submit(session.id, response["protocol"], response["data"]))
    assert again.status == 409
    return done


def received():
    """A response of the browser's API, with its challenge, as another stack would have it."""
    session = client.create_session(asking("org-iso-mdoc"))
    for variant, status in (("good", "verified"), ("element-changed", "failed")):
        made = respond(session, variant, "opened_mock_responses")
        request = {"documents": asking("org-iso-mdoc")["documents"]}
        encryption = session.requests[0]["data"]["encryptionInfo"]
        body = {
            "response": made["device_responses"][0], "request": request,
            "org_iso_mdoc": {"origin": ORIGIN, "encryption_info": encryption},
        }
        if variant == "good":
            # For the guide's programs.
            pathlib.Path("received.json").write_text(json.dumps(body))
        verdict = client.verify(body)
        assert verdict.status == status and verdict.is_verified == (verdict.result is not None), verdict
        assert verdict.is_verified or verdict.last_error.code == "mdoc.digest.mismatch"


def told(session):
    webhook, end = Webhook(os.environ["MDOC_HOOK_SECRET"]), time.time() + 10
    while time.time() < end:
        for file in pathlib.Path(os.environ["MDOC_HOOKS"]).iterdir():
            head, _, body = file.read_bytes().partition(b"\n\n")
            headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
            if json.loads(body)["data"]["id"] != session.id:
                continue
            event = webhook.event(headers, body)
            assert event.status == "verified" and event.id == client.event(event.id).id
            other = Webhook("whsec_" + "A" * 44)
            for checker, text, now in ((webhook, body + b" ", None), (webhook, body, time.time() + 600), (other, body, None)):
                try:
                    checker.event(headers, text, now=now)
                    raise AssertionError("a message that is not genuine was taken")
                except BadSignature:
                    pass
            return
        time.sleep(0.1)
    raise AssertionError("no webhook came")


def retried():
    """A busy server is asked again, after the time that it names, and not sooner than it says."""
    replies = [(503, "1", b"{}"), (200, None, b'{"status": "verified", "report": {"checks": [], "documents": []}}')]
    replies += [(429, "120", b'{"code": "api.quota_exceeded"}'), (200, None, b"no JSON")]
    keys = []

    class Busy(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers["Idempotency-Key"])
            status, after, body = replies[len(keys) - 1]
            self.send_response(status)
            if after:
                self.send_header("Retry-After", after)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        busy, begun = Client(f"http://127.0.0.1:{server.server_port}", KEY), time.monotonic()
        assert busy.verify({}).is_verified and time.monotonic() - begun >= 1
        assert len(keys) == 2 and keys[0] == keys[1]
        for status in (429, 200):
            try:
                busy.verify({})
                raise AssertionError("no problem")
            except Problem as problem:
                assert problem.status == status, problem
        assert len(keys) == 4
        server.shutdown()


sessions = [verified(protocol) for protocol in ("openid4vp", "apple-in-app", "openid4vp-v1-signed")]
received()
key = f"own-{time.time_ns()}"
one, other = (client.create_session(asking("openid4vp"), idempotency_key=key) for _ in range(2))
assert one.id == other.id and client.cancel(one.id).status == "canceled" and client.redact(one.id).status == "redacted"
refused("api.idempotency_key_reused", lambda: client.create_session(asking("apple-in-app"), idempotency_key=key))
wrong = refused("api.invalid_request", lambda: client.create_session({**asking("openid4vp"), "documents": []}))
assert wrong.errors[0].pointer == "/documents"
refused("session.not_found", lambda: client.session("vs_" + "A" * 22))
refused("api.unauthenticated", lambda: next(Client(URL, "nobody").sessions()))
listed = [session.id for session in client.sessions(limit=2)]
assert len(listed) == len(set(listed)) and {session.id for session in sessions} <= set(listed)
assert all(session.is_verified for session in client.sessions(status="verified", limit=5))
assert {event.session for event in client.events(type="verification_session.verified")} >= {one.id for one in sessions}
assert all(delivery.event.startswith("evt_") for delivery in client.deliveries())
told(sessions[0])
retried()
for secret in ("", "whsec_", "whsec_" + "A" * 28):
    try:
        Webhook(secret)
        raise AssertionError("a secret that anyone can guess was taken")
    except ValueError:
        pass
print("the Python client: sessions, verification, problems, lists, events, a webhook")
