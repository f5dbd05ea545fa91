"""The trial of zk-age-verifier: MDOC, a folder of circuits, and the Python of an environment that has the package."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from pylongfellow.mdoc import PublicKey, RequestedAttribute
from zk_age_verifier.core.encoding import b64url_decode, b64url_encode
from zk_age_verifier.core.engine.circuits import load_held_circuit
from zk_age_verifier.core.transport.dc import build_session_transcript, seal_response

MDOC, CIRCUITS = sys.argv[1], Path(sys.argv[2])
AGE = "eu.europa.ec.av.1"
MDL, NAMESPACE = "org.iso.18013.5.1.mDL", "org.iso.18013.5.1"
ORIGIN = "https://av.example"
SEED = "7a6b2d616765"
failures = []


def expect(condition, what):
    print("ok   " if condition else "WRONG", what, flush=True)
    if not condition:
        failures.append(what)


def run(*arguments):
    done = subprocess.run([MDOC, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def call(url, body, **headers):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return json.load(error)


# Our wallet, their verifier.


def their_session(base):
    created = call(f"{base}/sessions", {"checks": ["age_over_18"], "expected_origin": ORIGIN})
    return created["session_id"], created["transports"]["dc"]["digital"]["requests"][0]["data"]


def our_answer(data, variant="good", origin=ORIGIN):
    Path("data.json").write_text(json.dumps(data))
    run("mock", "web", "--protocol", "org-iso-mdoc", "--request-data", "data.json", "--origin", origin, "--circuits",
        CIRCUITS, "--person", "person.json", "--variant", variant, "--out", "answer.json")
    return json.loads(Path("answer.json").read_text())["data"]


def our_wallet(base):
    session, data = their_session(base)
    answer = our_answer(data)
    verdict = call(f"{base}/sessions/{session}/presentation", answer)
    expect(verdict.get("result") == {"age_over_18": True}, f"zk-age-verifier on our answer: {verdict}")
    other, _ = their_session(base)
    verdict = call(f"{base}/sessions/{other}/presentation", answer)
    expect(verdict.get("reason") == "decrypt-failed", f"the same answer in another session: {verdict}")
    for variant, reason in [("zk-tag-bit", "proof-invalid"), ("zk-timestamp-old", "stale-proof"),
                            ("zk-forged-signer", "untrusted-issuer"), ("zk-plain-only", "standard-mdoc-not-accepted"),
                            ("zk-value-denied", "claim-mismatch")]:
        session, data = their_session(base)
        verdict = call(f"{base}/sessions/{session}/presentation", our_answer(data, variant))
        expect(verdict.get("state") == "failed", f"{variant}: {verdict}, {reason} expected")


# Their wallet's parts, our verifier.


def their_answer(data, origin):
    """Sealed by zk-age-verifier's transport, with a proof by pylongfellow of a document that our mock issued."""
    transcript = build_session_transcript(data["encryptionInfo"], origin)
    Path("transcript.cbor").write_bytes(transcript)
    wanted = {"documents": [{"doc_type": MDL, "elements": [{"namespace": NAMESPACE, "identifier": "age_over_18"}]}]}
    run("mock", "response", "--transcript", "transcript.cbor", "--seed", SEED, "--request", json.dumps(wanted), "--out",
        "plain.cbor")
    plain = Path("plain.cbor").read_bytes()
    issuer_auth = cbor2.loads(plain)["documents"][0]["issuerSigned"]["issuerAuth"]
    chain = issuer_auth[1][33]
    key = x509.load_der_x509_certificate(chain).public_key().public_numbers()
    held = load_held_circuit(backend="isrg-rust")
    stamp = datetime.now(timezone.utc).replace(microsecond=0)
    claims = [RequestedAttribute(NAMESPACE, "age_over_18", cbor2.dumps(True))]
    proof = held.longfellow.prove(plain, PublicKey(key.x, key.y), transcript, claims, stamp)
    document = {
        "docType": MDL, "zkSystemId": held.zk_system_id, "timestamp": cbor2.CBORTag(0, stamp.strftime("%Y-%m-%dT%H:%M:%SZ")),
        "issuerSigned": {NAMESPACE: [{"elementIdentifier": "age_over_18", "elementValue": True}]},
        "deviceSigned": {}, "msoX5chain": chain,
    }
    response = {
        "version": "1.0", "status": 0,
        "zkDocuments": [{"documentData": cbor2.CBORTag(24, cbor2.dumps(document)), "proof": proof}],
    }
    cose_key = cbor2.loads(b64url_decode(data["encryptionInfo"]))[1]["recipientPublicKey"]
    point = b"\x04" + cose_key[-2] + cose_key[-3]
    recipient = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    enc, sealed = seal_response(cbor2.dumps(response), recipient, transcript)
    return {"response": b64url_encode(cbor2.dumps(["dcapi", {"enc": enc, "cipherText": sealed}]))}


def their_wallet(server):
    base, key = server["base_url"], {"Authorization": f"Bearer {server['api_key']}"}
    origin = server["relying_party"]["origins"][0]
    documents = [{"doc_type": MDL, "age_over": [18], "zk": "required"}]
    created = call(f"{base}/v1/verification_sessions",
                   {"protocols": ["org-iso-mdoc"], "origin": origin, "documents": documents}, **key)
    data = created["digital_credential_requests"][0]["data"]
    body = {"protocol": "org-iso-mdoc", "data": their_answer(data, origin)}
    submit = f"{base}/v1/verification_sessions/{created['id']}/submit"
    reply = call(submit, body, **key)
    expect(reply.get("status") == "verified", f"our server on their answer: {reply.get('last_error') or reply.get('status')}")
    again = call(submit, body, **key)
    expect(again.get("code") == "session.already_used", f"the same answer again: {again.get('code')}")


def main():
    run("mock", "anchors", "--out", "anchors")
    Path("person.json").write_text(
        json.dumps({"doc_type": AGE, "age_over": [], "namespaces": {AGE: {"age_over_18": True}}}))
    Path("config.toml").write_text(
        f'[service]\nexpected_origin = "{ORIGIN}"\n[[trust.sources]]\npem = "anchors/iaca.pem"\n')
    port = "8765"
    theirs = subprocess.Popen([sys.executable, "-m", "zk_age_verifier", "--config", "config.toml", "--port", port],
                              stdout=open("theirs.txt", "w"), stderr=subprocess.STDOUT)
    ours = subprocess.Popen([MDOC, "serve", "--test-mode", "--json", "--listen", "127.0.0.1:0", "--seed", SEED,
                             "--circuits", str(CIRCUITS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        base = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{base}/health", timeout=1).read()
                break
            except OSError:
                time.sleep(0.2)
        our_wallet(base)
        their_wallet(json.loads(ours.stdout.readline()))
    finally:
        for process in (theirs, ours):
            process.terminate()
            process.wait(20)
    print("accepted and refused as expected" if not failures else f"{len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
