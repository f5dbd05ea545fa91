"""The common part of the harnesses in Python, and the template for another: reads questions, answers each with a line.

    harness.serve(describe, verify)

`describe()` returns what the peer is. `verify(question)` prepares the peer's documented use, and returns the call to it.
What raises in that call is a rejection by the peer; what raises before is a fault of the harness.
"""

import base64
import json
import os
import re
import sys
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

CLOCK_SKEW = 60
# The rules of a relying party, which most libraries leave to their callers: the runner leaves out the cases about them.
RULES = ["strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"]
# COSE's numbers of P-384, P-521, Ed25519, Ed448 and the brainpool curves.
OTHER_CURVES = {2, 3, 6, 7, 256, 257, 258, 259}
RFC9864_ALGORITHMS = {-9, -19, -51, -52, -53, -265, -266, -267, -268}
# The namespaces with `age_over_NN`, by document type.
AGES = {"org.iso.18013.5.1.mDL": "org.iso.18013.5.1", "org.iso.23220.photoid.1": "org.iso.23220.1"}


class Unsupported(Exception):
    """The peer does not claim to judge this case. Its text is the reason."""


def description(package, profiles, use, documentation, leaves=RULES):
    """`package` is what the verifier is called on PyPI; another name has no version here."""
    try:
        installed = version(package)
    except PackageNotFoundError:
        installed = None
    return {
        "name": package,
        "version": installed,
        "language": f"Python {sys.version_info.major}.{sys.version_info.minor}",
        "profiles": profiles,
        "leaves": leaves,
        "use": use,
        "documentation": documentation,
    }


def serve(describe, verify):
    """Answers until the end of the input. Whatever a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(answer(line, describe, verify)) + "\n")
        answers.flush()


def answer(line, describe, verify):
    try:
        question = json.loads(line)
        if not isinstance(question, dict):
            raise TypeError("no JSON object")
        if "describe" in question:
            return describe()
        reply = {"id": question["id"]}
    except Exception as error:
        return {"verdict": "error", "reason": text(error)}
    try:
        call = verify(question)
    except Unsupported as reason:
        return reply | {"verdict": "unsupported", "reason": str(reason)}
    except Exception as error:
        return reply | {"verdict": "error", "reason": text(error)}
    try:
        return reply | {"verdict": "accepted" if call() else "rejected"}
    except Unsupported as reason:
        return reply | {"verdict": "unsupported", "reason": str(reason)}
    except Exception as error:
        return reply | {"verdict": "rejected", "note": text(error)}


def text(error):
    return f"{type(error).__name__}: {error}"[:200]


# The members of a question.


def unbase64(encoded):
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def input_bytes(question):
    return unbase64(question["input"])


def clock(question):
    return datetime.fromisoformat(question["validation_time"].replace("Z", "+00:00"))


def clock_skew(question):
    return question.get("policy", {}).get("clock_skew", CLOCK_SKEW)


def doc_types(question):
    return [document["doc_type"] for document in question["request"].get("documents", [])]


def certificates(question):
    """The certificates of the trusted anchors."""
    from cryptography import x509

    trusted = [anchor for anchor in question["anchors"] if anchor["name"] in question["trust_anchors"]]
    return [x509.load_der_x509_certificate(unbase64(anchor["certificate"])) for anchor in trusted]


def uses_other_algorithms(response, device=True):
    """Whether a document's signer or, with `device`, its device has a key on another curve of ISO/IEC 18013-5 than P-256,
    or one of RFC 9864's algorithms is named. False if the response cannot be read so far.
    """
    import cbor2
    from cryptography import exceptions, x509
    from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519

    try:
        for document in cbor2.loads(response)["documents"]:
            protected, unprotected, payload, _ = document["issuerSigned"]["issuerAuth"]
            if cbor2.loads(protected)[1] in RFC9864_ALGORITHMS:
                return True
            mso = cbor2.loads(cbor2.loads(payload).value)
            if device and mso["deviceKeyInfo"]["deviceKey"][-1] in OTHER_CURVES:
                return True
            chain = unprotected.get(33) or cbor2.loads(protected)[33]
            key = x509.load_der_x509_certificate(chain if isinstance(chain, bytes) else chain[0]).public_key()
            if isinstance(key, (ed25519.Ed25519PublicKey, ed448.Ed448PublicKey)):
                return True
            if isinstance(key, ec.EllipticCurvePublicKey) and re.match("secp[35]|brainpool", key.curve.name):
                return True
    except exceptions.UnsupportedAlgorithm:
        return True
    except Exception:
        pass
    return False
