"""zk-age-verifier: its envelope as the service calls it, and its proof engine in the order of `verify_presentation`."""

import asyncio
from datetime import timedelta

import cbor2
import harness
import time_machine
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from pylongfellow import mdoc
from zk_age_verifier.config import Config
from zk_age_verifier.core.engine import mdoc_zk
from zk_age_verifier.core.engine.circuits import load_held_circuit
from zk_age_verifier.core.transport.dc import DcSessionState
from zk_age_verifier.core.trustlist import AnchorSet
from zk_age_verifier.service.sessions import Session
from zk_age_verifier.service.verify import verify_response

USE = (
    "A response over org-iso-mdoc is passed to service.verify.verify_response, which POST /sessions/{id}/presentation "
    "calls, with the session's key and origin. A proof is verified as engine.mdoc_zk.verify_presentation does it, with the "
    "package's functions, google-cpp and a skew of 300 s; the constants for document type and namespace are those of the "
    "case. time-machine sets the time."
)
AGE_ONLY = "requests other than one age threshold: the service requests one age_over_NN and requires true"
SIGNER = x509.ObjectIdentifier("1.0.18013.5.1.2")
SKEW = timedelta(seconds=300)
TRUE = cbor2.dumps(True)

held = load_held_circuit(backend="google-cpp")


def describe():
    return harness.description(
        "zk-age-verifier", ["web", "zero-knowledge"], USE, "https://zk-age-verifier.readthedocs.io/en/stable/",
        leaves=[rule for rule in harness.RULES if rule != "acceptance"])


def verify(question):
    anchors = AnchorSet(tuple(harness.certificates(question)))
    protocol, documents = question["protocol"], question["request"]["documents"]
    if protocol == "org-iso-mdoc":
        return lambda: opened(question, anchors)
    if protocol != "proximity":
        raise harness.Unsupported(f"the protocol {protocol}")
    if documents[0].get("zk") != "required":
        raise harness.Unsupported("responses without a proof: the service refuses them all")
    if any("doc_types" not in anchor.get("settings", {}) for anchor in question["anchors"]):
        raise harness.Unsupported("the caller's rule: which anchors may attest ages (the service's manual leaves this to the caller)")
    if len(documents) > 1 or documents[0]["elements"] or len(documents[0]["age_over"]) != 1:
        raise harness.Unsupported(AGE_ONLY)
    return lambda: proved(question, anchors)


def opened(question, anchors):
    """The service's verdict. What it opens, and what is not a proof, it refuses: that says nothing of the envelope."""
    session, now = question["session"], harness.clock(question)
    number = int.from_bytes(harness.unbase64(session["recipient_key"]), "big")
    state = DcSessionState(ec.derive_private_key(number, ec.SECP256R1()), session["encryption_info"])
    asked = Session("case", state, session["origin"], ("age_over_18",), now, now + SKEW)
    config = Config(service={"expected_origin": session["origin"]}, trust={"sources": [{"pem": "anchors"}]})
    with time_machine.travel(now, tick=False):
        verdict = asyncio.run(verify_response(asked, held, anchors, {"response": question["input"]}, config))
    if verdict.state == "failed" and verdict.reason == "standard-mdoc-not-accepted":
        raise harness.Unsupported("responses without a proof: the service refuses them all")
    if verdict.state == "failed":
        raise ValueError(verdict.reason)
    return True


def proved(question, anchors):
    requested = question["request"]["documents"][0]
    doc_type, namespace = requested["doc_type"], harness.AGES[requested["doc_type"]]
    claim = f"age_over_{requested['age_over'][0]:02}"
    document = mdoc_zk.parse_device_response(harness.input_bytes(question))
    if document.zk_system_id != held.zk_system_id:
        if document.zk_system_id.startswith("longfellow-libzk-v1_6_1_") or document.zk_system_id == held.spec.circuit_hash:
            raise harness.Unsupported("circuits other than version 7 for one attribute under the service's own name")
        raise mdoc_zk.UnsupportedCircuit(document.zk_system_id)
    entries = document.issuer_signed.get(namespace)
    shown = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if document.doc_type != doc_type or not any(is_true(entry, claim) for entry in shown):
        if any(entry.get("elementIdentifier") == claim and entry.get("elementValue") is False for entry in shown):
            raise harness.Unsupported(AGE_ONLY)
        raise mdoc_zk.ClaimMismatch("docType or disclosed claims do not match the request")
    now = harness.clock(question)
    if abs(now - document.timestamp) > SKEW:
        raise mdoc_zk.StaleProof("proof timestamp is outside the allowed skew")
    with time_machine.travel(now, tick=False):
        issuer = mdoc.PublicKey(*anchors.resolve(document.mso_x5chain))
    held.longfellow.verify(
        issuer, harness.unbase64(question["session"]["transcript"]), [mdoc.RequestedAttribute(namespace, claim, TRUE)],
        document.timestamp, document.proof, doc_type, device_namespaces=b"\xa0")
    if SIGNER not in extended_key_usage(document.mso_x5chain):
        raise harness.Unsupported("the extended key usage of mDL signers: signers of the service's own credentials do not have it")
    return True


def extended_key_usage(certificate):
    try:
        return certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return []


def is_true(entry, claim):
    return entry.get("elementIdentifier") == claim and entry.get("elementValue") is True


harness.serve(describe, verify)
