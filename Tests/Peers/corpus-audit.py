"""Reads every input of the corpus with readers that are not this project's, and prints what is wrong beside the case's own
fault: cbor2, cryptography, jwcrypto and Pillow, and the rules of the standards written down once more.

A finding has a place, such as `engagement` or `mso`. A case may have findings at the places that its codes are about
(`INTENDED`), and nowhere else; a right answer has none but the one that it is there for (`UNUSUAL`). A place that is not
reached, because something before it cannot be read, is not looked at.
"""

import base64
import collections
import hashlib
import hmac
import io
import json
import re
import sys
import warnings
import zlib
from datetime import datetime, timedelta
from pathlib import Path

import cbor2
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hpke, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import ExtensionOID, NameOID
from jwcrypto import jwe, jwk
from PIL import Image

SUITE = hpke.Suite(hpke.KEM.P256, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
CURVES = {1: ec.SECP256R1, 2: ec.SECP384R1, 3: ec.SECP521R1, 256: ec.BrainpoolP256R1, 258: ec.BrainpoolP384R1,
          259: ec.BrainpoolP512R1}
EDWARDS = {6: ed25519.Ed25519PublicKey, 7: ed448.Ed448PublicKey}
HASHES = {-7: hashes.SHA256, -9: hashes.SHA256, -35: hashes.SHA384, -51: hashes.SHA384, -36: hashes.SHA512,
          -52: hashes.SHA512, -265: hashes.SHA256, -266: hashes.SHA256, -267: hashes.SHA384, -268: hashes.SHA512}
DIGESTS = {"SHA-256": hashlib.sha256, "SHA-384": hashlib.sha384, "SHA-512": hashlib.sha512}
MDOC_SIGNER = x509.ObjectIdentifier("1.0.18013.5.1.2")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


# The codes that a finding at a place may belong to, by how they begin. Sessions, portraits and what is named nowhere have no
# fault in any case.
INTENDED = {
    "response": "cbor. envelope.plaintext mdoc.device_auth.missing mdoc.issuer_auth.missing mdoc.response. "
                "policy.element_missing",
    "doc type": "mdoc.response.doc_type_not_requested",
    "envelope": "apple.simulator cbor. envelope.",
    "plaintext": "envelope.plaintext",
    "jwe": "envelope. jwe.",
    "jwe plaintext": "envelope.plaintext",
    "vp_token": "envelope.plaintext envelope.response_mode session.state vp_token. wallet.",
    "issuer auth": "apple. cbor. cose. mdoc.issuer_auth. mdoc.mso.missing mdoc.response.deviation",
    # A key that the signer's algorithm cannot have signed with.
    "issuer signature": "mdoc.issuer_auth. trust.certificate.algorithm_unsupported",
    "certificate": "revocation.authority_revoked revocation.crl_invalid revocation.source_not_allowed trust. "
                   "zk.document_malformed",
    "chain": "mdoc.response.document_unexpected trust. zk.issuer_key_unsupported",
    "mso": "cbor. mdoc.digest.id_out_of_range mdoc.mso. mdoc.response.deviation",
    "validity": "mdoc.validity. trust.certificate.expired",
    "items": "cbor. mdoc.digest.id_out_of_range mdoc.element.duplicate mdoc.item. policy.element_missing",
    "digests": "mdoc.digest. mdoc.item. mdoc.mso.",
    "values": "cbor.nesting cbor.simple mdoc.element. mdoc.item. policy.element_missing",
    "device key": "mdoc.device_auth.algorithm_key_mismatch mdoc.device_key.",
    "device auth": "cose. mdoc.device_auth. mdoc.response.",
    "device signature": "mdoc.device_auth.",
    "device mac": "mdoc.device_auth.",
    "zk": "cbor. mdoc.response.zero_knowledge zk.",
    "crl": "revocation.",
    "status list": "revocation.",
    "status signature": "revocation.",
    "vical": "list.",
    "lote": "list.",
    # A member of another type than the reader of its place takes for granted.
    "types": "cbor. envelope. jwe. list. mdoc.issuer_auth. zk.",
}
# Right answers in a form that is rare, or that this project takes though the standard does not have it. The brainpool curve
# of 320 bits is not known to cryptography.
UNUSUAL = {
    "response": "cbor-(deep-chunks|large|many-items)|unknown-members.*|response-version-1.1.*|document-errors-other-requested",
    "chain": "document-(lote|lote-direct-trust|vical-good)",
    "certificate": "intermediate-(allowed|eku-any)|crl-intermediate|issuer-brainpoolp320r1.*",
    "crl": "crl-intermediate|crl-stale-off",
    "device key": "device-brainpoolp320r1.*|device-key-agreement|device-(mac-)?key-use.*",
    "issuer auth": "x5chain-.*|x5t.*",
    "jwe": "openid4vp-(party-info|zip)",
    "mso": "dates-with-fraction.*",
    "status list": "(identifiers|status)-short-type",
    "status signature": "identifiers-bad-signature-off",
    "validity": "clock-at-.*|skew-.*",
    "vp_token": "openid4vp-unknown-parameter",
    "zk": "zk-(chain-array|documents-beside|unknown-members|without-device-signed)",
}


def is_intended(vector, place):
    expected = vector["expect"]
    codes = expected["codes"] + expected.get("warnings", [])
    starts = INTENDED.get(place, "").split()
    if any(code.startswith(start) for code in codes for start in starts):
        return True
    return not expected["codes"] and re.fullmatch(UNUSUAL.get(place, ""), vector["id"]) is not None


class Unreadable(Exception):
    """What follows cannot be looked at."""


class Case:
    def __init__(self, vector, anchors):
        self.vector, self.anchors = vector, anchors
        self.id, self.protocol, self.session = vector["id"], vector["protocol"], vector["session"]
        self.now = datetime.fromisoformat(vector["validation_time"].replace("Z", "+00:00"))
        self.findings = []

    def require(self, holds, place, text):
        if not holds:
            self.findings.append((place, text))
        return holds

    def read(self, place, call, *arguments):
        """What a reader makes of it. Where the reader refuses, that is the finding, and nothing behind it is looked at."""
        try:
            return call(*arguments)
        except Unreadable:
            raise
        except Exception as error:
            self.findings.append((place, f"{type(error).__name__}: {str(error)[:80]}"))
            raise Unreadable from None


def unbase64(text):
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("no base64url without padding")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def cbor(data):
    """One item and nothing behind it; a key that is there twice is refused."""
    stream = io.BytesIO(data)
    decoder = cbor2.CBORDecoder(stream, semantic_decoders=KEPT, allow_duplicate_keys=False)
    value = decoder.decode()
    if stream.read(1):
        raise ValueError("bytes behind the item")
    return value


def kept(number):
    return lambda value, *_: cbor2.CBORTag(number, value)


# Tags that are looked at as such, and not turned into Python's own types.
KEPT = {number: kept(number) for number in (0, 1, 2, 3, 100, 1004)}


def embedded(value):
    if not (isinstance(value, cbor2.CBORTag) and value.tag == 24 and isinstance(value.value, bytes)):
        raise ValueError("no byte string with tag 24")
    return cbor(value.value)


def scalar(text):
    return ec.derive_private_key(int.from_bytes(unbase64(text), "big"), ec.SECP256R1())


def cose_key(fields):
    """The public key of a COSE_Key (RFC 9053, 7)."""
    if 3 in fields or 4 in fields:
        raise ValueError("alg or key_ops")
    if fields[1] == 2:
        if set(fields) != {1, -1, -2, -3}:
            raise ValueError(f"members {sorted(fields, key=str)}")
        curve = CURVES[fields[-1]]()
        size = (curve.key_size + 7) // 8
        if len(fields[-2]) != size or (isinstance(fields[-3], bytes) and len(fields[-3]) != size):
            raise ValueError("a coordinate of another length")
        if isinstance(fields[-3], bool):
            return ec.EllipticCurvePublicKey.from_encoded_point(curve, bytes([2 + fields[-3]]) + fields[-2])
        return ec.EllipticCurvePublicNumbers(
            int.from_bytes(fields[-2], "big"), int.from_bytes(fields[-3], "big"), curve).public_key()
    if fields[1] == 1 and set(fields) == {1, -1, -2}:
        return EDWARDS[fields[-1]].from_public_bytes(fields[-2])
    raise ValueError(f"kty {fields.get(1)}")


def check_signature(key, algorithm, signature, data):
    if isinstance(key, (ed25519.Ed25519PublicKey, ed448.Ed448PublicKey)):
        if algorithm not in (-8, -19, -53):
            raise ValueError(f"algorithm {algorithm} for an Edwards key")
        return key.verify(signature, data)
    size = (key.key_size + 7) // 8
    if len(signature) != 2 * size:
        raise ValueError("the signature's length is not the curve's")
    encoded = encode_dss_signature(int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big"))
    return key.verify(encoded, data, ec.ECDSA(HASHES[algorithm]()))


def sign_structure(context, protected, payload):
    return cbor2.dumps([context, protected, b"", payload])


# Sessions: nothing in them is ever the fault.


def check_engaged(case, transcript):
    """ISO/IEC 18013-5:2021, 9.1.5.1 and 8.2.1.1."""
    value = case.read("transcript", cbor, transcript)
    if not case.require(isinstance(value, list) and len(value) == 3, "transcript", "no array of three"):
        return
    engagement = case.read("engagement", embedded, value[0])
    case.require(engagement.get(0) in ("1.0", "1.1"), "engagement", "version")
    case.require(set(engagement) <= {0, 1, 2, 3, 4}, "engagement", "unknown keys")
    if case.require(1 in engagement, "engagement", "no Security"):
        suite, key = case.read("engagement", lambda: tuple(engagement[1]))
        case.require(suite == 1, "engagement", "the cipher suite is not 1")
        case.read("engagement", lambda: cose_key(embedded(key)))
    reader = case.read("reader key", lambda: cose_key(embedded(value[1])))
    if "reader_key" in case.session:
        mine = scalar(case.session["reader_key"]).public_key()
        case.require(reader.public_numbers() == mine.public_numbers(), "reader key", "is not that of the session")
    handover = value[2]
    case.require(
        handover is None or isinstance(handover, list) and len(handover) == 2 and isinstance(handover[0], bytes)
        and (handover[1] is None or isinstance(handover[1], bytes)), "transcript", "no QR or NFC handover")


def thumbprint(key):
    numbers = key.public_numbers()
    def text(number):
        return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
    members = {"crv": "P-256", "kty": "EC", "x": text(numbers.x), "y": text(numbers.y)}
    return hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest()


def handover(name, information):
    return cbor2.dumps([None, None, [name, hashlib.sha256(cbor2.dumps(information)).digest()]])


def open_apple(case):
    session = case.session
    key = scalar(session["recipient_key"])
    nonce = unbase64(session["nonce"])
    case.require(16 <= len(nonce) <= 64, "session", "the nonce's length")
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    digest = hashlib.sha256(point).digest()
    transcript = cbor2.dumps(
        [None, None, ["AppleIdentityPresentment_1.0", nonce, session["merchant_id"], session["team_id"], digest]])
    envelope = case.read("envelope", cbor, case.input)
    case.require(set(envelope) == {"algorithm", "params", "data"}, "envelope", f"members {list(envelope)}")
    case.require(envelope.get("algorithm") == "APPLE-HPKE-v1", "envelope", "algorithm")
    params = envelope.get("params")
    if not case.require(isinstance(params, dict) and set(params) == {"mode", "pkEm", "pkRHash", "infoHash"}, "envelope",
                        "the members of params"):
        raise Unreadable
    case.require(params["mode"] == 0 and params["pkRHash"] == digest, "envelope", "mode or pkRHash")
    case.require(params["infoHash"] == hashlib.sha256(transcript).digest(), "envelope", "infoHash")
    plaintext = case.read("envelope", lambda: SUITE.decrypt(params["pkEm"] + envelope["data"], key, transcript))
    opened = case.read("plaintext", cbor, plaintext)
    if not case.require(list(opened) == ["identity"], "plaintext", f"members {list(opened)}"):
        raise Unreadable
    return [(plaintext, transcript, opened["identity"])]


def open_annex_c(case):
    """ISO/IEC TS 18013-7:2025, Annex C."""
    session = case.session
    key = scalar(session["recipient_key"])
    information = case.read("encryption info", lambda: cbor(unbase64(session["encryption_info"])))
    if case.require(isinstance(information, list) and len(information) == 2 and information[0] == "dcapi",
                    "encryption info", "is not [\"dcapi\", …]"):
        members = information[1]
        case.require(set(members) == {"nonce", "recipientPublicKey"}, "encryption info", f"members {list(members)}")
        case.require(len(members["nonce"]) >= 16, "encryption info", "the nonce's length")
        theirs = case.read("encryption info", cose_key, members["recipientPublicKey"])
        case.require(theirs.public_numbers() == key.public_key().public_numbers(), "encryption info", "another key")
    case.require(re.fullmatch(r"https://[a-z.]+", session["origin"]), "session", "the origin")
    transcript = handover("dcapi", [session["encryption_info"], session["origin"]])
    sealed = case.read("envelope", cbor, case.input)
    if not case.require(isinstance(sealed, list) and len(sealed) == 2 and sealed[0] == "dcapi", "envelope",
                        "is not [\"dcapi\", …]"):
        raise Unreadable
    case.require(set(sealed[1]) == {"enc", "cipherText"}, "envelope", f"members {list(sealed[1])}")
    plaintext = case.read("envelope", lambda: SUITE.decrypt(sealed[1]["enc"] + sealed[1]["cipherText"], key, transcript))
    return [(plaintext, transcript, None)]


def open_openid4vp(case):
    """OpenID4VP 1.0, 8 and B.2; ISO/IEC TS 18013-7, Annex B."""
    session, parameters = case.session, case.read("envelope", json.loads, case.input)
    is_annex_b = case.protocol == "openid4vp-iso-18013-7-annex-b"
    is_form = case.protocol == "openid4vp" or is_annex_b
    key = scalar(session["encryption_key"]) if "encryption_key" in session else None
    case.require(len(unbase64(session["nonce"])) >= 16, "session", "the nonce")
    print_ = thumbprint(key.public_key()) if key else None
    if key:
        case.require(unbase64(session["key_id"]) == print_, "session", "key_id is no thumbprint")
    if is_form and not is_annex_b:
        case.require(session["client_id"].startswith("x509_san_dns:"), "session", "client_id")
    agreed = None
    if key:
        case.require(list(parameters) == ["response"], "envelope", f"members {list(parameters)}")
        token = jwe.JWE()
        case.read("jwe", lambda: token.deserialize(parameters["response"]))
        header = case.read("jwe", lambda: json.loads(unbase64(parameters["response"].split(".")[0])))
        case.require(header.get("alg") == "ECDH-ES" and header.get("enc") in ("A128GCM", "A256GCM"), "jwe", "alg or enc")
        case.require(header.get("kid") == session["key_id"], "jwe", "kid")
        members = {"alg", "enc", "kid", "epk"} | ({"apu", "apv"} if is_annex_b else set())
        case.require(set(header) == members, "jwe", f"members {sorted(header)}")
        private = jwk.JWK.from_pyca(key)
        case.read("jwe", lambda: token.decrypt(private))
        parameters = case.read("jwe plaintext", json.loads, token.payload)
        if is_annex_b:
            case.require(unbase64(header["apv"]).decode() == session["nonce"], "jwe", "apv is not the nonce")
            agreed = unbase64(header["apu"]).decode()
    elif is_form:
        case.require(all(isinstance(value, str) for value in parameters.values()), "envelope", "a field is no text")
        parameters = {name: case.read("vp_token", json.loads, value) if name == "vp_token" else value
                      for name, value in parameters.items()}
    members = {"vp_token"} | ({"state"} if "state" in session else set())
    members |= {"presentation_submission"} if is_annex_b else set()
    case.require(set(parameters) == members, "vp_token", f"members {sorted(parameters)}")
    case.require(parameters.get("state") == session.get("state"), "vp_token", "state")
    if is_annex_b:
        def digest(text):
            return hashlib.sha256(cbor2.dumps([text, agreed])).digest()
        transcript = cbor2.dumps(
            [None, None, [digest(session["client_id"]), digest(session["response_uri"]), session["nonce"]]])
        submission = parameters.get("presentation_submission", {})
        case.require(submission.get("definition_id") == "mdoc-request" and submission.get("id"), "vp_token", "submission")
        for entry in submission.get("descriptor_map", []):
            case.require(entry.get("format") == "mso_mdoc" and entry.get("path") == "$", "vp_token", "descriptor_map")
        return [(case.read("vp_token", unbase64, parameters.get("vp_token")), transcript, None)]
    if is_form:
        transcript = handover(
            "OpenID4VPHandover", [session["client_id"], session["nonce"], print_, session["response_uri"]])
    else:
        transcript = handover("OpenID4VPDCAPIHandover", [session["origin"], session["nonce"], print_])
    presentations = parameters.get("vp_token")
    if not case.require(isinstance(presentations, dict), "vp_token", "no object"):
        raise Unreadable
    opened = []
    for name, list_ in presentations.items():
        case.require(re.fullmatch(r"document_\d", name), "vp_token", "no query has this id")
        if case.require(isinstance(list_, list) and len(list_) == 1, "vp_token", "no array of one"):
            opened.append((case.read("vp_token", unbase64, list_[0]), transcript, None))
    return opened


def open_proximity(case):
    transcript = unbase64(case.session["transcript"])
    check_engaged(case, transcript)
    return [(case.input, transcript, None)]


# Responses.


def check_response(case, data, transcript, value):
    response = case.read("response", lambda: value if value is not None else cbor(data))
    if not case.require(isinstance(response, dict), "response", "no map"):
        raise Unreadable
    case.require(set(response) <= {"version", "documents", "zkDocuments", "status"} and "status" in response, "response",
                 f"members {[key for key in response]}")
    case.require(response.get("version") == "1.0", "response", "version")
    case.require(response.get("status") == 0 and isinstance(response.get("status"), int), "response", "status")
    documents = response.get("documents", [])
    case.require(documents or response.get("zkDocuments"), "response", "no documents")
    asked = [document["doc_type"] for document in case.vector["request"].get("documents", [])]
    for document in documents or []:
        try:
            check_document(case, document, transcript, asked)
        except Unreadable:
            pass
        except Exception as error:
            case.require(False, "types", f"{type(error).__name__}: {str(error)[:60]}")
    for document in response.get("zkDocuments") or []:
        try:
            check_proof(case, document, asked)
        except Unreadable:
            pass


def check_document(case, document, transcript, asked):
    if not case.require(isinstance(document, dict), "response", "a document is no map"):
        raise Unreadable
    case.require(set(document) == {"docType", "issuerSigned", "deviceSigned"}, "response", f"members {list(document)}")
    case.require(document.get("docType") in asked, "doc type", "was not asked for")
    signed = document.get("issuerSigned")
    if not case.require(isinstance(signed, dict) and set(signed) == {"nameSpaces", "issuerAuth"}, "response",
                        "the members of issuerSigned"):
        raise Unreadable
    mso, device_key = check_issuer(case, signed["issuerAuth"])
    case.require(mso["docType"] == document["docType"], "mso", "docType")
    try:
        check_items(case, signed["nameSpaces"], mso)
    except Unreadable:
        pass
    check_device(case, document, device_key, transcript)


def check_items(case, namespaces, mso):
    if not case.require(isinstance(namespaces, dict) and namespaces, "items", "nameSpaces is no map, or empty"):
        return
    seen = set()
    for namespace, items in namespaces.items():
        digests = mso["valueDigests"].get(namespace)
        if not case.require(digests is not None, "digests", "of a namespace are missing"):
            continue
        for item in items:
            content = case.read("items", embedded, item)
            case.require(list(sorted(content, key=str)) == ["digestID", "elementIdentifier", "elementValue", "random"],
                         "items", f"members {list(content)}")
            number, random = content.get("digestID"), content.get("random")
            case.require(isinstance(number, int) and 0 <= number < 1 << 31, "items", "digestID")
            case.require(isinstance(random, bytes) and len(random) >= 16, "items", "random")
            name = content.get("elementIdentifier")
            case.require((namespace, name) not in seen, "items", "an element twice")
            seen.add((namespace, name))
            raw = cbor_bytes(case, item)
            expected = digests.get(number) if isinstance(number, int) else None
            algorithm = DIGESTS.get(mso["digestAlgorithm"])
            if algorithm:
                case.require(expected == algorithm(raw).digest(), "digests", "another digest")
            check_value(case, name, content.get("elementValue"))


def cbor_bytes(case, item):
    """The item's bytes as they came: a tag 24 in its shortest form, or the long one that is in the input."""
    short = cbor2.dumps(item)
    for head in (b"\xd8\x18", b"\xd9\x00\x18", b"\xda\x00\x00\x00\x18", b"\xdb" + bytes(7) + b"\x18"):
        content = item.value
        lengths = [short[2:len(short) - len(content)]]
        lengths += [bytes([head]) + len(content).to_bytes(size, "big")
                    for head, size in ((0x59, 2), (0x5a, 4), (0x5b, 8)) if len(content) < 256**size]
        for length in lengths:
            if head + length + content in case.bytes:
                return head + length + content
    return short


def check_value(case, name, value):
    kinds = {
        "given_name": str, "family_name": str, "document_number": str, "issuing_jurisdiction": str,
        "issuing_country": str, "issuing_authority": str, "portrait": bytes,
    }
    if name in kinds:
        case.require(isinstance(value, kinds[name]), "values", f"the type of {name}")
    if name == "birth_date" and isinstance(value, dict):  # ISO/IEC 23220
        value = value.get("birth_date")
    if name in ("birth_date", "issue_date", "expiry_date"):
        case.require(
            isinstance(value, cbor2.CBORTag) and value.tag in (0, 1004) and isinstance(value.value, str)
            and re.fullmatch(r"\d{4}-\d\d-\d\d(T.*Z)?", value.value), "values", f"the form of {name}")
    if isinstance(name, str) and name.startswith("age_over_"):
        case.require(isinstance(value, bool) and re.fullmatch(r"age_over_\d\d", name), "values", "age_over_NN")
    if name == "issuing_country" and isinstance(value, str):
        case.require(re.fullmatch("[A-Z]{2}", value), "values", "issuing_country")
    if name == "portrait" and isinstance(value, bytes):
        try:
            Image.open(io.BytesIO(value)).load()
        except Exception as error:
            case.require(False, "portrait", f"{type(error).__name__}: no picture")


def check_issuer(case, auth):
    if not case.require(isinstance(auth, list) and len(auth) == 4, "issuer auth", "no untagged array of four"):
        raise Unreadable
    protected, unprotected, payload, signature = auth
    header = case.read("issuer auth", lambda: cbor(protected) if protected else {})
    if not case.require(isinstance(header, dict) and isinstance(unprotected, dict), "issuer auth", "headers"):
        raise Unreadable
    case.require(set(header) == {1}, "issuer auth", f"protected {list(header)}")
    case.require(set(unprotected) == {33}, "issuer auth", f"unprotected {list(unprotected)}")
    chain = unprotected.get(33, header.get(33))
    if not case.require(chain is not None and isinstance(payload, bytes), "issuer auth", "no chain or no payload"):
        raise Unreadable
    case.require(isinstance(chain, bytes) or len(chain) > 1, "issuer auth", "an array of one certificate")
    chain = [chain] if isinstance(chain, bytes) else chain
    certificates = [case.read("certificate", load, der) for der in chain]
    check_path(case, certificates)
    case.read("issuer signature", check_signature, certificates[0].public_key(), header.get(1), signature,
              sign_structure("Signature1", protected, payload))
    mso = case.read("mso", lambda: embedded(cbor(payload)))
    members = {"version", "digestAlgorithm", "valueDigests", "deviceKeyInfo", "docType", "validityInfo"}
    if not case.require(members <= set(mso), "mso", f"without {sorted(members - set(mso))}"):
        raise Unreadable
    case.require(set(mso) <= members | {"status"}, "mso", f"members {sorted(map(str, mso))}")
    case.require(mso["version"] == "1.0", "mso", "version")
    case.require(mso["digestAlgorithm"] in DIGESTS, "mso", "digestAlgorithm")
    for digests in mso["valueDigests"].values():
        if not case.require(isinstance(digests, dict) and digests, "mso", "valueDigests"):
            raise Unreadable
        for number, digest in digests.items():
            case.require(isinstance(number, int) and 0 <= number < 1 << 31, "mso", "a DigestID")
            size = DIGESTS[mso["digestAlgorithm"]]().digest_size if mso["digestAlgorithm"] in DIGESTS else 0
            case.require(not size or isinstance(digest, bytes) and len(digest) == size, "digests", "length")
    validity = mso["validityInfo"]
    case.require({"signed", "validFrom", "validUntil"} <= set(validity) <= {"signed", "validFrom", "validUntil",
                 "expectedUpdate"}, "mso", f"members of validityInfo {list(validity)}")
    times = {}
    for name, value in validity.items():
        if case.require(isinstance(value, cbor2.CBORTag) and value.tag == 0 and isinstance(value.value, str)
                        and DATE.fullmatch(value.value), "mso", f"the form of {name}"):
            times[name] = case.read("mso", datetime.fromisoformat, value.value.replace("Z", "+00:00"))
    if {"signed", "validFrom", "validUntil"} <= set(times):
        case.require(times["signed"] <= times["validFrom"] < times["validUntil"], "validity", "the order of the dates")
        case.require(times["validFrom"] <= case.now <= times["validUntil"], "validity", "not valid at the time")
        leaf = certificates[0]
        case.require(leaf.not_valid_before_utc <= times["signed"] <= leaf.not_valid_after_utc, "validity",
                     "signed outside the certificate's validity")
        case.require(times["validUntil"] <= leaf.not_valid_after_utc, "validity", "longer than the certificate")
    information = mso["deviceKeyInfo"]
    case.require(isinstance(information, dict) and set(information) <= {"deviceKey", "keyAuthorizations", "keyInfo"},
                 "device key", "the members of deviceKeyInfo")
    check_authorizations(case, information.get("keyAuthorizations"))
    try:
        return mso, case.read("device key", lambda: cose_key(information["deviceKey"]))
    except Unreadable:
        return mso, None


def check_authorizations(case, value):
    if value is None:
        return
    case.require(isinstance(value, dict) and set(value) <= {"nameSpaces", "dataElements"} and value, "authorizations",
                 "its members")


def check_device(case, document, key, transcript):
    signed = document.get("deviceSigned")
    if not case.require(isinstance(signed, dict) and set(signed) == {"nameSpaces", "deviceAuth"}, "device auth",
                        "the members of deviceSigned"):
        raise Unreadable
    spaces = case.read("device auth", embedded, signed["nameSpaces"])
    case.require(isinstance(spaces, dict) and all(isinstance(items, dict) and items for items in spaces.values()),
                 "device auth", "nameSpaces")
    authentication = cbor2.dumps(cbor2.CBORTag(24, b"".join([
        b"\x84", cbor2.dumps("DeviceAuthentication"), transcript, cbor2.dumps(document["docType"]),
        cbor_bytes(case, signed["nameSpaces"])])))
    auth = signed["deviceAuth"]
    if not case.require(isinstance(auth, dict) and len(auth) == 1, "device auth", f"members {list(auth)}") or not key:
        raise Unreadable
    name, value = next(iter(auth.items()))
    if not case.require(name in ("deviceSignature", "deviceMac") and isinstance(value, list) and len(value) == 4,
                        "device auth", "no untagged array of four"):
        raise Unreadable
    protected, unprotected, payload, proof = value
    case.require(unprotected == {}, "device auth", "unprotected header")
    case.require(payload is None, "device auth", "payload")
    header = case.read("device auth", lambda: cbor(protected) if protected else {})
    case.require(isinstance(header, dict) and set(header) == {1}, "device auth", f"protected {list(header)}")
    if name == "deviceSignature":
        case.read("device signature", lambda: check_signature(
            key, header.get(1), proof, sign_structure("Signature1", protected, authentication)))
        return
    case.require(header.get(1) == 5, "device auth", "the MAC's algorithm")
    scalar_text = case.session.get("reader_key") or case.session.get("encryption_key")
    if not case.require(scalar_text is not None, "device mac", "there is no reader key"):
        return
    secret = case.read("device mac", lambda: scalar(scalar_text).exchange(ec.ECDH(), key))
    salt = hashlib.sha256(cbor2.dumps(cbor2.CBORTag(24, transcript))).digest()
    mac_key = HKDF(hashes.SHA256(), 32, salt, b"EMacKey").derive(secret)
    tag = hmac.digest(mac_key, sign_structure("MAC0", protected, authentication), "sha256")
    case.require(tag == proof, "device mac", "is another")


def check_proof(case, document, asked):
    case.require(set(document) == {"documentData", "proof"} and isinstance(document.get("proof"), bytes), "zk",
                 f"members {list(document)}")
    data = case.read("zk", embedded, document.get("documentData"))
    case.require(set(data) == {"docType", "zkSystemId", "timestamp", "issuerSigned", "deviceSigned", "msoX5chain"}, "zk",
                 f"members {sorted(map(str, data))}")
    case.require(data.get("docType") in asked, "doc type", "was not asked for")
    time = data.get("timestamp")
    case.require(isinstance(time, cbor2.CBORTag) and time.tag == 0 and DATE.fullmatch(str(time.value)), "zk", "timestamp")
    for items in (data.get("issuerSigned") or {}).values():
        for item in items:
            case.require(set(item) == {"elementIdentifier", "elementValue"}, "zk", f"members {list(item)}")
    chain = data.get("msoX5chain")
    case.require(isinstance(chain, bytes) or isinstance(chain, list) and len(chain) > 1, "zk", "msoX5chain")
    check_path(case, [case.read("certificate", load, der) for der in ([chain] if isinstance(chain, bytes) else chain)])


# Certificates (ISO/IEC 18013-5:2021, Annex B).


def load(der):
    certificate = x509.load_der_x509_certificate(der)
    certificate.public_key()
    certificate.extensions
    return certificate


def extension(certificate, oid):
    try:
        return certificate.extensions.get_extension_for_oid(oid)
    except x509.ExtensionNotFound:
        return None


def check_path(case, chain):
    certificate = chain[0]
    anchors = [case.anchors[name] for name in case.vector["trust_anchors"] if name in case.anchors]
    if len(chain) == 1 and any(certificate == anchor for anchor, _ in anchors):
        return
    check_signer(case, certificate)
    path = list(chain)
    issuers = [anchor for anchor, _ in anchors if anchor.subject == path[-1].issuer or anchor == path[-1]]
    if not case.require(bool(issuers), "chain", "no anchor has the issuer's name"):
        return
    for lower, upper in zip(path, path[1:] + issuers[:1]):
        if lower == upper:
            continue
        try:
            lower.verify_directly_issued_by(upper)
        except (InvalidSignature, ValueError, TypeError) as error:
            case.require(False, "chain", f"{type(error).__name__} between certificates")
    for one in path + issuers[:1]:
        case.require(one.not_valid_before_utc <= case.now <= one.not_valid_after_utc, "chain", "not valid at the time")
    check_root(case, issuers[0])


def check_common(case, certificate, kind):
    place = "certificate"
    case.require(certificate.version == x509.Version.v3, place, f"{kind}: version")
    serial = certificate.serial_number
    case.require(serial > 0 and serial.bit_length() <= 159, place, f"{kind}: serial number")
    country = certificate.subject.get_attributes_for_oid(NameOID.COUNTRY_NAME)
    case.require(len(country) == 1 and re.fullmatch("[A-Z]{2}", country[0].value), place, f"{kind}: country")
    case.require(len(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)) == 1, place, f"{kind}: common name")
    identifier = extension(certificate, ExtensionOID.SUBJECT_KEY_IDENTIFIER)
    if case.require(identifier is not None and not identifier.critical, place, f"{kind}: subject key identifier"):
        expected = x509.SubjectKeyIdentifier.from_public_key(certificate.public_key())
        case.require(identifier.value.digest == expected.digest, place, f"{kind}: subject key identifier's value")
    alternative = extension(certificate, ExtensionOID.ISSUER_ALTERNATIVE_NAME)
    case.require(alternative is not None and not alternative.critical, place, f"{kind}: issuer alternative name")


def check_signer(case, certificate):
    check_common(case, certificate, "signer")
    place = "certificate"
    usage = extension(certificate, ExtensionOID.KEY_USAGE)
    case.require(usage is not None and usage.critical and usage.value.digital_signature and not usage.value.key_cert_sign,
                 place, "signer: key usage")
    purposes = extension(certificate, ExtensionOID.EXTENDED_KEY_USAGE)
    case.require(purposes is not None and purposes.critical and MDOC_SIGNER in purposes.value, place,
                 "signer: extended key usage")
    case.require(extension(certificate, ExtensionOID.AUTHORITY_KEY_IDENTIFIER) is not None, place,
                 "signer: authority key identifier")
    constraints = extension(certificate, ExtensionOID.BASIC_CONSTRAINTS)
    case.require(constraints is None or not constraints.value.ca, place, "signer: CA")
    points = extension(certificate, ExtensionOID.CRL_DISTRIBUTION_POINTS)
    case.require(points is not None and not points.critical, place, "signer: CRL distribution points")
    length = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    case.require(length <= timedelta(days=457), place, "signer: valid for more than 457 days")


def check_root(case, certificate):
    check_common(case, certificate, "root")
    place = "certificate"
    case.require(certificate.issuer == certificate.subject, place, "root: issuer")
    usage = extension(certificate, ExtensionOID.KEY_USAGE)
    case.require(usage is not None and usage.critical and usage.value.key_cert_sign and usage.value.crl_sign, place,
                 "root: key usage")
    constraints = extension(certificate, ExtensionOID.BASIC_CONSTRAINTS)
    case.require(constraints is not None and constraints.critical and constraints.value.ca
                 and constraints.value.path_length == 0, place, "root: basic constraints")
    length = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    case.require(length <= timedelta(days=20 * 366), place, "root: valid for more than 20 years")


# What publishers serve, and lists of anchors.


def check_publications(case):
    for publication in case.vector.get("publications", []):
        if "fault" in publication:
            continue
        content = joined(publication, {})
        try:
            kind = publication.get("media_type")
            if kind == "application/pkix-crl":
                check_crl(case, content)
            elif kind in ("application/statuslist+cwt", "application/identifierlist+cwt"):
                check_token(case, content, kind)
            elif kind == "application/statuslist+jwt":
                parts = content.decode().split(".")
                case.require(len(parts) == 3, "status list", "no compact JWS")
                header = json.loads(unbase64(parts[0]))
                case.require(header.get("typ") == "statuslist+jwt", "status list", "typ")
                check_status_list(case, json.loads(unbase64(parts[1])).get("status_list"), is_json=True)
            else:
                case.require(False, "publication", f"media type {kind}")
        except Unreadable:
            pass
        except Exception as error:
            case.require(False, "status list", f"{type(error).__name__}: {str(error)[:60]}")


def check_crl(case, content):
    crl = case.read("crl", x509.load_der_x509_crl, content)
    case.require(crl.next_update_utc is not None and crl.last_update_utc <= case.now <= crl.next_update_utc, "crl", "dates")
    case.require(any(one.oid == ExtensionOID.CRL_NUMBER for one in crl.extensions), "crl", "no CRL number")
    case.require(any(one.oid == ExtensionOID.AUTHORITY_KEY_IDENTIFIER for one in crl.extensions), "crl",
                 "no authority key identifier")
    case.require(any(crl.issuer == anchor.subject and crl.is_signature_valid(anchor.public_key())
                     for anchor, _ in case.anchors.values()), "crl", "no anchor signed it")


def check_token(case, content, kind):
    value = case.read("status list", cbor, content)
    place = "status list"
    if not case.require(isinstance(value, cbor2.CBORTag) and value.tag == 18 and len(value.value) == 4, place,
                        "no tagged COSE_Sign1"):
        raise Unreadable
    protected, unprotected, payload, signature = value.value
    header = case.read(place, cbor, protected)
    case.require(header.get(16) in (kind, None) and 1 in header, place, f"header {header.get(16)}")
    claims = case.read(place, cbor, payload)
    case.require({2, 6} <= set(claims) and {4, 65534} & set(claims), place, f"claims {sorted(map(str, claims))}")
    if kind == "application/statuslist+cwt":
        case.require(65533 in claims, place, "no status_list")
        check_status_list(case, claims.get(65533), is_json=False)
    chain = unprotected.get(33, header.get(33))
    if case.require(chain is not None, place, "no chain"):
        first = chain if isinstance(chain, bytes) else chain[0]
        certificate = case.read("status certificate", load, first)
        case.read("status signature", check_signature, certificate.public_key(), header.get(1), signature,
                  sign_structure("Signature1", protected, payload))


def check_status_list(case, value, is_json):
    if not case.require(isinstance(value, dict) and {"bits", "lst"} <= set(value), "status list", "its members"):
        raise Unreadable
    case.require(value["bits"] in (1, 2, 4, 8), "status list", "bits")
    case.read("status list", lambda: zlib.decompress(unbase64(value["lst"]) if is_json else value["lst"]))


def check_list(case):
    if case.protocol == "vical":
        value = case.read("vical", cbor, case.input)
        value = value.value if isinstance(value, cbor2.CBORTag) and value.tag == 18 else value
        if not case.require(isinstance(value, list) and len(value) == 4, "vical", "no COSE_Sign1"):
            raise Unreadable
        protected, unprotected, payload, signature = value
        header = case.read("vical", cbor, protected)
        chain = header.get(33, unprotected.get(33) if isinstance(unprotected, dict) else None)
        content = case.read("vical", cbor, payload)
        case.require({"version", "vicalProvider", "date", "certificateInfos"} <= set(content), "vical", "its members")
        for entry in content.get("certificateInfos", []):
            case.require({"certificate", "serialNumber", "ski", "docType"} <= set(entry), "vical", "an entry's members")
            certificate = case.read("vical", load, entry["certificate"])
            number = entry.get("serialNumber")
            number = int.from_bytes(number.value, "big") if isinstance(number, cbor2.CBORTag) else number
            case.require(number == certificate.serial_number, "vical", "an entry's serial number")
            identifier = extension(certificate, ExtensionOID.SUBJECT_KEY_IDENTIFIER)
            case.require(identifier is None or identifier.value.digest == entry.get("ski"), "vical", "an entry's ski")
        signer = case.read("vical", load, chain if isinstance(chain, bytes) else chain[0])
        case.read("vical", check_signature, signer.public_key(), header.get(1), signature,
                  sign_structure("Signature1", protected, payload))
        return
    parts = case.read("lote", lambda: case.input.decode("ascii").strip().split("."))
    if not case.require(len(parts) == 3, "lote", "no compact JWS"):
        raise Unreadable
    header = case.read("lote", lambda: json.loads(unbase64(parts[0])))
    payload = case.read("lote", lambda: json.loads(unbase64(parts[1])))
    case.require({"alg", "x5c"} <= set(header), "lote", f"header {sorted(header)}")
    case.require("LoTE" in payload, "lote", f"members {sorted(payload)}")
    certificate = case.read("lote", lambda: load(base64.b64decode(header["x5c"][0], validate=True)))
    case.read("lote", lambda: check_signature(
        certificate.public_key(), {"ES256": -7, "ES384": -35, "ES512": -36}[header["alg"]], unbase64(parts[2]),
        (parts[0] + "." + parts[1]).encode()))


# The corpus.


def joined(holder, inputs, name="input"):
    for member in (name, "bytes"):
        if member in holder:
            return unbase64(holder[member])
    content = b""
    for part in holder["generator"]:
        if "vector" in part:
            content += inputs[part["vector"]][part["from"]:part["from"] + part["count"]]
        else:
            content += unbase64(part["bytes"]) * part.get("times", 1)
    return content


def audit(case):
    openers = {"apple-in-app": open_apple, "org-iso-mdoc": open_annex_c, "proximity": open_proximity}
    try:
        if case.protocol in ("vical", "trusted-entities"):
            return check_list(case)
        check_publications(case)
        for data, transcript, value in openers.get(case.protocol, open_openid4vp)(case):
            case.bytes = data
            check_response(case, data, transcript, value)
    except Unreadable:
        pass
    except Exception as error:
        # A member of another type than every reader takes for granted.
        case.require(False, "types", f"{type(error).__name__}: {str(error)[:60]}")


def main(folder):
    anchors = {}
    for path in sorted((folder / "anchors").glob("*.pem")):
        settings = path.with_suffix(".json")
        anchors[path.stem] = (
            x509.load_pem_x509_certificate(path.read_bytes()), json.loads(settings.read_text()) if settings.exists() else {})
    vectors = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*.json"))]
    vectors = [vector for vector in vectors if "expect" in vector]
    inputs = {}
    for vector in vectors:
        if "input" in vector:
            inputs[vector["id"]] = unbase64(vector["input"])
    for vector in vectors:
        inputs.setdefault(vector["id"], None)
    for vector in vectors:
        if inputs[vector["id"]] is None:
            inputs[vector["id"]] = joined(vector, inputs)
    left, intended = collections.defaultdict(list), 0
    for vector in vectors:
        case = Case(vector, anchors)
        case.input = inputs[vector["id"]]
        audit(case)
        for place, text in sorted(set(case.findings)):
            if is_intended(vector, place):
                intended += 1
            else:
                left[(place, text)].append(vector["id"])
    for (place, text), ids in sorted(left.items(), key=lambda entry: -len(entry[1])):
        print(f"{place}: {text}: {len(ids)} cases: {' '.join(ids[:12])}{' …' if len(ids) > 12 else ''}")
    print(f"{len(vectors)} cases: {intended} findings at the places of their faults, {len(left)} kinds elsewhere")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
