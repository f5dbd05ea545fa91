"""openvc-core: `verify_device_response`, and `verify_vp_token` and `verify_encrypted_vp_response` for OpenID4VP."""

import hashlib
import json
import re

import harness
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from openvc import cbor, cose, verify_encrypted_vp_response, verify_vp_token
from openvc.errors import OpenvcError
from openvc.keys import P256KeyAgreementKey, jwk_thumbprint_bytes
from openvc.mdoc import verify_device_response
from openvc.trustlist.lote import consume_lote

USE = (
    "openvc.mdoc.verify_device_response with trust_anchors, session_transcript, now, leeway_s, expected_doc_type (if one "
    "document is asked for) and device_mac_key; over the Digital Credentials API openvc.verify_vp_token or "
    "verify_encrypted_vp_response with expected_origins, mdoc_jwk_thumbprint and meta.doctype_value of each query; for lists "
    "of trusted entities openvc.trustlist.lote.consume_lote with expected_signer_certs and now, and its next_update."
)
# What its documentation leaves out, in the words of its errors.
LEFT_OUT = {
    r"alg -(9|19|36|5[0-3]|26[5-8]) is not allow|EC2 curve (3|25[6-9]) |OKP curve 7 |not EC P-256/P-384 or"
    r"|curve '(secp521r1|brainpool\w+)' is|Curve 1\.3\.36\.3\.3\.2\.8": "other algorithms than ES256, ES384, EdDSA",
    "indefinite-length items are not supported": "indefinite lengths",
}


def describe():
    return harness.description(
        "openvc-core", ["core", "web", "trust-lists"], USE, "https://luisgf.github.io/openvc/api/mdoc/",
        leaves=[rule for rule in harness.RULES if rule != "all-documents"])


def verify(question):
    protocol = question["protocol"]
    if protocol == "proximity":
        if question["request"].get("all_documents"):
            raise harness.Unsupported("all documents: only a DCQL query has this option")
        return lambda: judged(question, device_response)
    if protocol.startswith("openid4vp-v1-"):
        return lambda: judged(question, digital_credentials)
    if protocol == "trusted-entities":
        return lambda: trusted_entities(question)
    raise harness.Unsupported("VICALs" if protocol == "vical" else f"the protocol {protocol}")


def judged(question, call):
    """Success is a result without an exception."""
    try:
        call(question)
    except (OpenvcError, UnsupportedAlgorithm) as error:
        for words, reason in LEFT_OUT.items():
            if re.search(words, str(error)):
                raise harness.Unsupported(reason) from error
        if "DeviceMac holder binding needs" in str(error) and question["protocol"] != "proximity":
            raise harness.Unsupported("a device MAC over OpenID4VP") from error
        raise
    return True


# A DeviceResponse and its SessionTranscript.


def device_response(question):
    response, transcript = harness.input_bytes(question), harness.unbase64(question["session"]["transcript"])
    requested = harness.doc_types(question)
    verify_device_response(
        response, trust_anchors=harness.certificates(question), session_transcript=transcript, now=harness.clock(question),
        leeway_s=harness.clock_skew(question), expected_doc_type=requested[0] if len(requested) == 1 else None,
        device_mac_key=mac_key(question, response, transcript))


def mac_key(question, response, transcript):
    """EMacKey, which its documentation has the caller derive (ISO/IEC 18013-5:2021, 9.1.3.5); nil without a reader key."""
    if "reader_key" not in question["session"]:
        return None
    issuer_auth = cbor.decode(response)["documents"][0]["issuerSigned"]["issuerAuth"]
    device_key = cbor.decode(cbor.decode(issuer_auth[2]).value)["deviceKeyInfo"]["deviceKey"]
    secret = private_key(question["session"]["reader_key"]).agree(cose.cose_key_to_jwk(device_key))
    salt = hashlib.sha256(cbor.encode(cbor.CborTag(cbor.TAG_ENCODED_CBOR, transcript))).digest()
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=b"EMacKey").derive(secret)


def private_key(scalar, key_id="reader"):
    number = int.from_bytes(harness.unbase64(scalar), "big")
    return P256KeyAgreementKey(ec.derive_private_key(number, ec.SECP256R1()), key_id)


# OpenID4VP over the Digital Credentials API.


def digital_credentials(question):
    session, parameters = question["session"], json.loads(harness.input_bytes(question))
    common = {
        "dcql_query": query(question), "nonce": session["nonce"], "expected_origins": [session["origin"]],
        "trust_anchors": harness.certificates(question), "now": harness.clock(question),
        "leeway_s": harness.clock_skew(question)}
    if "encryption_key" not in session:
        verify_vp_token(parameters["vp_token"], **common)
    else:
        key = private_key(session["encryption_key"], session["key_id"])
        thumbprint = jwk_thumbprint_bytes(key.public_jwk())
        verify_encrypted_vp_response(parameters["response"], key=key, mdoc_jwk_thumbprint=thumbprint, **common)
        if json.loads(harness.unbase64(parameters["response"].split(".")[0])).get("kid") != key.kid:
            raise harness.Unsupported("the caller's rule: choosing the key by its kid")


def query(question):
    ids = [f"document_{number}" for number in range(len(harness.doc_types(question)))]
    credentials = [
        {"id": name, "format": "mso_mdoc", "meta": {"doctype_value": doc_type}}
        for name, doc_type in zip(ids, harness.doc_types(question))]
    if question["request"].get("all_documents") or len(ids) == 1:
        return {"credentials": credentials}
    return {"credentials": credentials, "credential_sets": [{"options": [[name] for name in ids]}]}


# Lists of trusted entities.


def trusted_entities(question):
    """A list by itself. Its documentation has the caller look at NextUpdate, and at what he accepted before."""
    if "last_accepted" in question["session"]:
        raise harness.Unsupported("the caller's rule: which list was accepted last")
    now = harness.clock(question)
    accepted = consume_lote(
        harness.input_bytes(question), expected_signer_certs=harness.certificates(question), now=now)
    return accepted.next_update is not None and now <= accepted.next_update


harness.serve(describe, verify)
