"""isomdoc: `verify_device_response`, and the check of the issuer's certificate that its example leaves to the caller."""

import cbor2
import harness
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import Criticality, ExtensionPolicy, PolicyBuilder, Store, VerificationError
from isomdoc import verify_device_response

USE = (
    "isomdoc.verify_device_response with the response and the decoded SessionTranscript. Its example says to check the "
    "issuer's certificates: the harness validates each document's mso_certificate_chain to the anchors at the time of the "
    "case with cryptography.x509.verification, and asks for the signer's digitalSignature and 1.0.18013.5.1.2."
)
SIGNER = x509.ObjectIdentifier("1.0.18013.5.1.2")
CONSTRAINTS = (x509.NameConstraints, x509.PolicyConstraints)


def describe():
    return harness.description(
        "isomdoc", ["core"], USE, "https://github.com/leecam/pymdoc/blob/main/examples/verify_mdoc.py")


def verify(question):
    if question["protocol"] != "proximity":
        raise harness.Unsupported(f"the protocol {question['protocol']}")
    response = harness.input_bytes(question)
    transcript = cbor2.loads(harness.unbase64(question["session"]["transcript"]))
    trust = Trust(harness.certificates(question), harness.clock(question))
    return lambda: judged(question, response, transcript, trust)


def judged(question, response, transcript, trust):
    """Success is a result without an exception, and certificates that the caller trusts."""
    try:
        documents = verify_device_response(response, transcript).documents
    except Exception as error:
        if harness.uses_other_algorithms(response):
            raise harness.Unsupported("other algorithms than ES256") from error
        if "must contain deviceSignature" in str(error) and b"deviceMac" in response:
            raise harness.Unsupported("a device MAC") from error
        raise
    for document in documents:
        trust.check(document.issuer_signed.mso_certificate_chain, elements(document))
    return True


def elements(document):
    namespaces = document.issuer_signed.namespaces
    return {name: {item.element_identifier: item.element_value for item in items} for name, items in namespaces.items()}


class Trust:
    """The caller's check of the issuer's certificates (ISO/IEC 18013-5:2021, 9.3.3 and B.1.4)."""

    def __init__(self, anchors, now):
        signer = (
            ExtensionPolicy.permit_all()
            .require_present(x509.KeyUsage, Criticality.AGNOSTIC, self.signs)
            .require_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, self.signs_documents))
        self.builder = PolicyBuilder().time(now).extension_policies(
            ca_policy=ExtensionPolicy.webpki_defaults_ca(), ee_policy=signer)
        self.anchors = anchors

    @staticmethod
    def signs(policy, certificate, usage):
        if not usage.digital_signature:
            raise ValueError("the signer's key usage")

    @staticmethod
    def signs_documents(policy, certificate, usage):
        if SIGNER not in usage:
            raise ValueError("the signer's extended key usage")

    def check(self, chain, elements):
        if not self.anchors:
            raise VerificationError("no anchor")
        self.builder.store(Store(self.anchors)).build_client_verifier().verify(chain[0], chain[1:])
        if not self.is_plain(chain, elements):
            raise harness.Unsupported("the caller's rule: the checks of the issuer's certificates beyond path validation")

    def is_plain(self, chain, elements):
        """Whether the rules of Annex B that path validation does not know have nothing to say. They are not isomdoc's."""
        signer = chain[0]
        issuer = next(other for other in [*self.anchors, *chain[1:]] if other.subject == signer.issuer)
        country, state = NameOID.COUNTRY_NAME, NameOID.STATE_OR_PROVINCE_NAME
        key = signer.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        stated = [elements.get("org.iso.18013.5.1", {}).get(name) for name in ("issuing_country", "issuing_jurisdiction")]
        return (
            all(named(signer, oid) in (None, named(issuer, oid)) for oid in (country, state))
            and all(is_in in (None, named(signer, oid)) for is_in, oid in zip(stated, (country, state)))
            and getattr(extension(signer, x509.BasicConstraints), "ca", False) is False
            and getattr(extension(signer, x509.AuthorityKeyIdentifier), "key_identifier", None)
            in (None, getattr(extension(issuer, x509.SubjectKeyIdentifier), "digest", None))
            and not any(extension(authority, kind) for authority in chain[1:] for kind in CONSTRAINTS)
            and key in signer.tbs_certificate_bytes
            and len(chain) <= 5 and len(signer.tbs_certificate_bytes) < 16_384)


def named(certificate, oid):
    return next((attribute.value for attribute in certificate.subject.get_attributes_for_oid(oid)), None)


def extension(certificate, kind):
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


harness.serve(describe, verify)
