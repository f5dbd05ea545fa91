"""A harness to fill in. PYTHONPATH names the folder of harness.py: PYTHONPATH=../.. python3 verify.py"""

import harness


def describe():
    return harness.description(
        "my-verifier", ["core"], "Which calls, with which options.", "https://example.org/", leaves=harness.RULES)


def verify(question):
    if question["protocol"] != "proximity":
        raise harness.Unsupported(question["protocol"])
    return lambda: verified(
        harness.input_bytes(question), harness.unbase64(question["session"]["transcript"]), harness.clock(question))


def verified(response, transcript, now):
    """True if it is accepted; what raises is a rejection. `harness.certificates(question)` has the trusted roots."""
    raise harness.Unsupported("not filled in")


harness.serve(describe, verify)
