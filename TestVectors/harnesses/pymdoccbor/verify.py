"""pymdoccbor: `MdocCbor.verify`, its "full verification". It reads the system's clock, which is set for the call."""

import harness
import time_machine
from pymdoccbor.mdoc.verifier import MdocCbor

USE = (
    "MdocCbor.loads, then verify(trusted_root_certs=…, verify_hashes=True), which has to return True: the use that its "
    "manual recommends for production. verify takes no SessionTranscript. It takes the time from the system: time-machine "
    "sets it to that of the case."
)


def describe():
    return harness.description(
        "pymdoccbor", ["core"], USE,
        "https://github.com/IdentityPython/pyMDOC-CBOR/blob/main/docs/CERTIFICATE-CHAIN-VERIFICATION.md")


def verify(question):
    if question["protocol"] != "proximity":
        raise harness.Unsupported(f"the protocol {question['protocol']}")
    return lambda: judged(question, harness.input_bytes(question), harness.certificates(question))


def judged(question, response, anchors):
    mdoc = MdocCbor()
    try:
        with time_machine.travel(harness.clock(question), tick=False):
            mdoc.loads(response)
            verified = mdoc.verify(trusted_root_certs=anchors, verify_hashes=True)
    except Exception:
        leave_out(question, response)
        raise
    if not verified:
        leave_out(question, response)
        return False
    return True


def leave_out(question, response):
    """What its manual does not claim: signers below an authority of their own, other digests and algorithms."""
    if any(anchor.get("settings", {}).get("max_path_length") for anchor in question["anchors"]):
        raise harness.Unsupported("a signer below an intermediate authority")
    if b"gSHA-384" in response or b"gSHA-512" in response:
        raise harness.Unsupported("other digests than SHA-256")
    if harness.uses_other_algorithms(response, device=False):
        raise harness.Unsupported("other algorithms than ES256")


harness.serve(describe, verify)
