"""Records the contract's examples, which are replies of a server in test mode.

Usage: examples.py URL KEY OUT, with a server that was started with --webhook and an address at which nobody listens. OUT
is Sources/Server/App/OpenAPI/Examples.json. Reports are cut to some checks.
"""
import json, sys, time, urllib.error, urllib.request

url, key, out = sys.argv[1:4]


def call(method, path, body=None, token=key):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", **({"Content-Type": "application/json"} if data else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method=method)) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as problem:
        sys.exit(f"{method} {path}: {problem.code} {problem.read().decode()}")


sessions = "/v1/verification_sessions"
mdl = "org.iso.18013.5.1"
ask = {
    "protocols": ["org-iso-mdoc"],
    "origin": url,
    "documents": [
        {
            "doc_type": mdl + ".mDL",
            "elements": [{"namespace": mdl, "identifier": "given_name"}],
            "age_over": [21],
        }
    ],
}


def short(report):
    """The first three checks of each list: a report has about a hundred."""
    cut = lambda checks: sorted(checks, key=lambda check: check["outcome"] != "failed")[:3]
    report["checks"] = cut(report["checks"])
    for document in report["documents"]:
        document["checks"] = cut(document["checks"])


def run(variant="good"):
    session = call("POST", sessions, ask)
    mock = call("POST", "/v1/test/mock_responses", {"session": session["id"], "variant": variant})
    opened = call("POST", "/v1/test/opened_mock_responses", {"session": session["id"], "variant": variant})
    return session, mock, opened, call("POST", f"{sessions}/{session['id']}/submit", mock)


examples = {}
created, mock, opened, verified = run()
failed = run("element-changed")[3]
for session in (verified, failed):
    short(session["report"])
examples["createVerificationSession"] = created
examples["createMockResponse"] = mock
examples["createOpenedMockResponse"] = opened
examples["submitVerificationSession"] = verified
read = call("GET", f"{sessions}/{failed['id']}")
short(read["report"])
examples["getVerificationSession"] = read
examples["listVerificationSessions"] = call("GET", sessions + "?limit=1")
examples["getVerificationReport"] = read["report"]
verification = call("POST", "/v1/verifications", {
    "response": opened["device_responses"][0],
    "org_iso_mdoc": {
        "origin": url, "encryption_info": created["requests"][0]["data"]["encryptionInfo"],
    },
    "request": {"documents": ask["documents"]}, "nonce_id": created["id"],
})
short(verification["report"])
examples["createVerification"] = verification
waiting = call("POST", sessions, ask)
examples["cancelVerificationSession"] = call("POST", f"{sessions}/{waiting['id']}/cancel", {})
examples["simulateOutcome"] = call(
    "POST", f"/v1/test/verification_sessions/{call('POST', sessions, ask)['id']}/simulate", {"outcome": "verified"})
short(examples["simulateOutcome"]["report"])
page = call("POST", sessions, {**ask, "purpose": "Age check"})
examples["getVerificationPage"] = call("GET", f"{sessions}/{page['id']}/page")
examples["redactVerificationSession"] = call("POST", f"{sessions}/{waiting['id']}/redact")
call("POST", sessions, {**ask, "expires_in": 30})
time.sleep(45)  # The sweep tells of expiries some seconds later.
events = call("GET", "/v1/events?limit=100")
examples["listEvents"] = {**events, "data": events["data"][:1]}
examples["getEvent"] = events["data"][0]
for event in events["data"]:
    examples.setdefault(event["type"], event)
examples["listTrustAnchors"] = call("GET", "/v1/trust_anchors")
examples["listTrustAnchors"]["data"] = examples["listTrustAnchors"]["data"][:1]
examples["reloadTrust"] = examples["listTrustAnchors"]["loaded"]
examples["postWalletResponse"] = {}
checked = {"response": "_w", "session_transcript": "g_b2gmFhYWI"}
examples["createCheck"] = call("POST", "/v1/test/checks", checked)
short(examples["createCheck"]["report"])
link = call("POST", sessions, {"protocols": ["openid4vp"], "documents": ask["documents"]})["requests"][0]["data"]
examples["createMockWalletRequest"] = call(
    "POST", "/v1/test/wallet_requests", {"link": link["authorization_request"]})
del examples["createMockWalletRequest"]["checks"][3:]
examples["createDiagnostic"] = call("POST", "/v1/test/diagnostics", {"cbor": "oWFhAQ"})
examples["getUsage"] = call("GET", "/v1/usage")
deliveries = call("GET", "/v1/webhook_deliveries?status=pending&limit=1")
examples["listWebhookDeliveries"] = deliveries
examples["retryWebhookDelivery"] = deliveries["data"][0]
for name, path in {"getHealth": "/healthz", "getReadiness": "/readyz"}.items():
    examples[name] = call("GET", path)
examples["reloadConfiguration"] = {
    "loaded_at": examples["getReadiness"]["configuration"]["loaded_at"],
    "relying_parties": 1,
}
json.dump(examples, open(out, "w"), ensure_ascii=False, separators=(",", ":"))
