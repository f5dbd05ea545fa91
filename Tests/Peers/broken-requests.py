"""Right and broken requests to wallets, for MDOC: made and signed here, by the texts of the standards."""

import base64
import copy
import hashlib
import json
import secrets
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote, urlencode

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto import jwk, jws

MDOC = sys.argv[1]
HOST = "verifier.example"
RESPONSE = f"https://{HOST}/response"
ORIGIN = f"https://{HOST}"
MDL, NAMESPACE = "org.iso.18013.5.1.mDL", "org.iso.18013.5.1"


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# An authority of readers, and a reader.


def certificate(subject, key, issuer, issuer_key, is_authority):
    now = datetime.now(timezone.utc)
    name = lambda text: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=90))
        .add_extension(x509.BasicConstraints(is_authority, 0 if is_authority else None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False)
    )
    usage = dict.fromkeys(
        ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only",
         "decipher_only"], False)
    builder = builder.add_extension(
        x509.KeyUsage(digital_signature=not is_authority, key_cert_sign=is_authority, crl_sign=is_authority, **usage),
        True)
    if not is_authority:
        builder = (
            builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), False)
            .add_extension(x509.ExtendedKeyUsage([x509.ObjectIdentifier("1.0.18013.5.1.6")]), True)
            .add_extension(x509.CRLDistributionPoints([x509.DistributionPoint(
                [x509.UniformResourceIdentifier(f"https://{HOST}/crl")], None, None, None)]), False)
        )
    return builder.sign(issuer_key, hashes.SHA256())


def der(made):
    return made.public_bytes(serialization.Encoding.DER)


authority_key, key, other_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
authority = certificate("authority", authority_key, "authority", authority_key, True)
leaf = certificate("reader", key, "authority", authority_key, False)
Path("root.pem").write_bytes(authority.public_bytes(serialization.Encoding.PEM))

HASH = "x509_hash:" + b64url(hashlib.sha256(der(leaf)).digest())
ENCRYPTION = jwk.JWK.generate(kty="EC", crv="P-256", kid="1", use="enc", alg="ECDH-ES")


def claims(client_id, mode):
    return {
        "aud": "https://self-issued.me/v2", "response_type": "vp_token", "response_mode": mode, "client_id": client_id,
        "nonce": b64url(secrets.token_bytes(32)), "iat": int(time.time()), "exp": int(time.time()) + 600,
        "dcql_query": {"credentials": [{
            "id": "licence", "format": "mso_mdoc", "meta": {"doctype_value": MDL},
            "claims": [
                {"id": "name", "path": [NAMESPACE, "family_name"]}, {"id": "age", "path": [NAMESPACE, "age_over_18"]}],
            "claim_sets": [["name", "age"], ["age"]],
        }]},
        "client_metadata": {
            "jwks": {"keys": [ENCRYPTION.export_public(as_dict=True)]},
            "encrypted_response_enc_values_supported": ["A128GCM", "A256GCM"],
            "vp_formats_supported": {
                "mso_mdoc": {"issuerauth_alg_values": [-7, -9], "deviceauth_alg_values": [-7, -9, -65537]}},
        },
    }


def posted(client_id=HASH):
    return claims(client_id, "direct_post.jwt") | {"response_uri": RESPONSE, "state": secrets.token_urlsafe(16)}


def by_page():
    return claims(HASH, "dc_api.jwt") | {"expected_origins": [ORIGIN]}


def sign(payload, signer=key, x5c=(leaf,), typ="oauth-authz-req+jwt"):
    token = jws.JWS(json.dumps(payload))
    header = {"alg": "ES256", "typ": typ, "x5c": [base64.b64encode(der(each)).decode() for each in x5c]}
    token.add_signature(jwk.JWK.from_pyca(signer), None, json.dumps(header))
    return token.serialize(compact=True)


def link(client_id=HASH, scheme="openid4vp", **more):
    parameters = {"client_id": client_id, "request_uri": f"https://{HOST}/request"} | more
    return f"{scheme}://?" + urlencode(parameters, quote_via=quote)


def age_link(**changes):
    parameters = claims(f"redirect_uri:{RESPONSE}", "direct_post") | {"response_uri": RESPONSE} | changes
    for name in ["aud", "iat", "exp"]:
        parameters.pop(name)
    parameters["client_metadata"] = {"vp_formats_supported": {"mso_mdoc": {}}}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
    return "av://?" + urlencode(texts, quote_via=quote)


def changed(request, path, value):
    """A copy with another value at the path; None removes it."""
    request = copy.deepcopy(request)
    place = request
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return request


def transaction(**entry):
    return [b64url(json.dumps(entry).encode())]


LINK = ["--link", link()]
PAGE = ["--origin", ORIGIN]
CREDENTIAL = ("dcql_query", "credentials", 0)
DNS = f"x509_san_dns:{HOST}"

# Each: what it is, the code of its fault (None for a right request), the file's or the link's text, options.
requests = [
    ("signed, by its hash", None, sign(posted()), LINK),
    ("signed, by its DNS name", None, sign(posted(DNS)), ["--link", link(DNS)]),
    ("HAIP", None, sign(posted()), ["--link", link(scheme="haip-vp"), "--profile", "haip"]),
    ("wallet_nonce after a POST", None, sign(posted() | {"wallet_nonce": "w-1"}),
     ["--link", link(request_uri_method="post"), "--wallet-nonce", "w-1"]),
    ("over the Digital Credentials API", None, sign(by_page()), PAGE),
    ("over the Digital Credentials API, as a browser has it", None,
     json.dumps({"protocol": "openid4vp-v1-signed", "data": {"request": sign(by_page())}}), PAGE),
    ("age verification by link", None, age_link(), []),

    ("signed by another key", "reader_auth.signature_invalid", sign(posted(), other_key), LINK),
    ("another type of token", "reader_auth.malformed", sign(posted(), typ="JWT"), LINK),
    ("a hash of another certificate", "reader_auth.client_id_mismatch",
     sign(posted("x509_hash:" + b64url(bytes(32)))), []),
    ("for another page", "reader_auth.origin_mismatch", sign(by_page()), ["--origin", "https://evil.example"]),
    ("the link names another client", "request.client_id_mismatch", sign(posted()), ["--link", link(DNS)]),
    ("the authority's certificate is sent", "request.signer_chain", sign(posted(), x5c=(leaf, authority)),
     ["--link", link(), "--profile", "haip"]),
    ("the response goes elsewhere", "request.response_uri_not_of_client",
     sign(posted(DNS) | {"response_uri": f"https://{HOST}.evil.example/"}), ["--link", link(DNS)]),
    ("redirect_uri beside direct_post", "request.redirect_uri_with_direct_post",
     sign(posted() | {"redirect_uri": RESPONSE}), LINK),
    ("an unknown prefix", "request.client_id_prefix_unknown", sign(posted("spiffe:shop")), ["--link", link("spiffe:shop")]),
    ("redirect_uri as the client, signed", "request.signature_forbidden", sign(posted(f"redirect_uri:{RESPONSE}")),
     ["--link", link(f"redirect_uri:{RESPONSE}")]),
    ("unsigned, by its DNS name", "request.signature_missing", json.dumps(posted(DNS)), []),
    ("an unencrypted response_uri", "request.uri_invalid", sign(posted() | {"response_uri": f"http://{HOST}/"}), LINK),
    ("expired", "request.expired", sign(posted() | {"exp": int(time.time()) - 3600}), LINK),
    ("no nonce", "request.nonce_malformed", sign(changed(posted(), ["nonce"], None)), LINK),
    ("another wallet's nonce", "request.wallet_nonce_mismatch", sign(posted() | {"wallet_nonce": "w-1"}),
     LINK + ["--wallet-nonce", "w-2"]),
    ("unknown transaction data", "request.transaction_data_unknown",
     sign(posted() | {"transaction_data": transaction(type="payment", credential_ids=["licence"])}), LINK),
    ("no key to encrypt to", "request.encryption_key", sign(changed(posted(), ["client_metadata", "jwks"], None)), LINK),
    ("a private key", "request.encryption_key",
     sign(changed(posted(), ["client_metadata", "jwks", "keys"], [ENCRYPTION.export_private(as_dict=True)])), LINK),
    ("algorithms by name", "request.vp_formats",
     sign(changed(posted(), ["client_metadata", "vp_formats_supported", "mso_mdoc", "issuerauth_alg_values"], ["ES256"])),
     LINK),
    ("a claim set of unknown claims", "request.dcql_sets", sign(changed(by_page(), [*CREDENTIAL, "claim_sets"], [["sex"]])),
     PAGE),
    ("a claim without namespace", "request.dcql_claims",
     sign(changed(by_page(), [*CREDENTIAL, "claims", 0, "path"], ["family_name"])), PAGE),
    ("no document type", "request.dcql_malformed", sign(changed(by_page(), [*CREDENTIAL, "meta"], {})), PAGE),
    ("an id with a blank", "request.dcql_id", sign(changed(by_page(), [*CREDENTIAL, "id"], "a licence")), PAGE),
    ("direct_post over the Digital Credentials API", "request.response_mode",
     sign(changed(by_page(), ["response_mode"], "direct_post.jwt") | {"response_uri": RESPONSE}), PAGE),
    ("one encryption for HAIP", "request.haip_encryption",
     sign(changed(posted(), ["client_metadata", "encrypted_response_enc_values_supported"], ["A256GCM"])),
     LINK + ["--profile", "haip"]),
    ("age verification for another address", "request.response_uri_not_of_client",
     age_link(response_uri=f"https://{HOST}/other"), []),
]

differences = 0
for index, (what, code, text, options) in enumerate(requests):
    operand = text
    if "://?" not in text[:20]:
        operand = f"request-{index}"
        Path(operand).write_text(text)
    done = subprocess.run(
        [MDOC, "verify", "request", operand, "--root", "root.pem", "--json", *options], capture_output=True, text=True)
    found = [done.stderr.strip()]
    if done.returncode in (0, 1):
        found = [each["code"] for each in json.loads(done.stdout)["checks"] if each["outcome"] in ("failed", "warning")]
    is_right = found == ([code] if code else []) and done.returncode == (1 if code else 0)
    differences += not is_right
    print("ok   " if is_right else "WRONG", what, *([] if is_right else ["expected", code, "found", found]), flush=True)

broken = sum(code is not None for _, code, _, _ in requests)
print(f"{broken} broken and {len(requests) - broken} right requests, {differences} differences")
sys.exit(differences > 0)
