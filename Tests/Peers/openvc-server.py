"""A small verifier around openvc-core's OpenID4VP over the Digital Credentials API: PORT, and a PEM file of anchors.

POST /sessions with {"dcql_query"} begins a session and returns {"id", "data"}: an unsigned request for an encrypted
response. POST /sessions/ID/response with the wallet's data returns {"verdict": "accepted" or "refused"}. As a caller must,
the server looks for the requested elements in the verified documents, and takes one response a session.
"""

import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from openvc import verify_encrypted_vp_response
from openvc.errors import OpenvcError
from openvc.keys import P256KeyAgreementKey, jwk_thumbprint_bytes

PORT = int(sys.argv[1])
with open(sys.argv[2], "rb") as file:
    ANCHORS = x509.load_pem_x509_certificates(file.read())
ORIGIN = f"http://127.0.0.1:{PORT}"
sessions = {}


def begin(body):
    name, key = secrets.token_urlsafe(16), P256KeyAgreementKey.generate("key-1")
    sessions[name] = {"nonce": secrets.token_urlsafe(16), "key": key, "query": body["dcql_query"]}
    jwk = {**key.public_jwk(), "kid": key.kid, "alg": "ECDH-ES", "use": "enc"}
    metadata = {
        "jwks": {"keys": [jwk]}, "encrypted_response_enc_values_supported": ["A128GCM", "A256GCM"],
        "vp_formats_supported": {"mso_mdoc": {"issuerauth_alg_values": [-7], "deviceauth_alg_values": [-7]}}}
    data = {
        "response_type": "vp_token", "response_mode": "dc_api.jwt", "nonce": sessions[name]["nonce"],
        "client_metadata": metadata, "dcql_query": body["dcql_query"]}
    return 201, {"id": name, "data": data}


def judge(session, body):
    key = session["key"]
    try:
        result = verify_encrypted_vp_response(
            body["response"], key=key, dcql_query=session["query"], nonce=session["nonce"], expected_origins=[ORIGIN],
            trust_anchors=ANCHORS, mdoc_jwk_thumbprint=jwk_thumbprint_bytes(key.public_jwk()))
    except (KeyError, OpenvcError, UnsupportedAlgorithm):
        return "refused"
    queries = {query["id"]: query for query in session["query"]["credentials"]}
    for presentation in result.presentations:
        for document in presentation.credentials:
            for claim in queries[presentation.query_id].get("claims", []):
                namespace, element = claim["path"]
                if element not in document.namespaces.get(namespace, {}):
                    return "refused"
    return "accepted"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = self.path.split("/")
        if self.path == "/sessions":
            status, reply = begin(body)
        elif len(parts) == 4 and parts[2] in sessions:
            status, reply = 200, {"verdict": judge(sessions.pop(parts[2]), body)}
        else:
            status, reply = 404, {"error": "no such session"}
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
