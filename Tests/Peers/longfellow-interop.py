"""The trial of longfellow-interop: MDOC, and the folder of circuits that it imported."""

import json
import os
import statistics
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import cbor2
from cryptography import x509
from pylongfellow import Pylongfellow
from pylongfellow.mdoc import PublicKey, RequestedAttribute

MDOC, CIRCUITS = sys.argv[1], Path(sys.argv[2])
MDL = "org.iso.18013.5.1.mDL"
NAMESPACE = "org.iso.18013.5.1"
ELEMENTS = ["age_over_21", "family_name", "sex", "birth_date"]
MEASURED = [(6, 1), (7, 1), (7, 4)]
AGE = "eu.europa.ec.av.1"
PERSON = ["--person", "person.json"]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("WRONG:", what)


def run(*arguments):
    before = os.times()
    done = subprocess.run([MDOC, *map(str, arguments)], capture_output=True, text=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return done.returncode, done.stdout + done.stderr, seconds


def cpu(work):
    """Processor time of this process in seconds, and what the work gave."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def flipped(proof):
    changed = bytearray(proof)
    changed[len(changed) // 2] ^= 1
    return bytes(changed)


def request(doc_type, namespace, elements, zk):
    wanted = [{"namespace": namespace, "identifier": name} for name in elements]
    return json.dumps({"documents": [{"doc_type": doc_type, "elements": wanted, "zk": zk}]})


class Case:
    """One circuit, and a document whose elements it proves."""

    def __init__(self, version, doc_type, namespace, elements):
        self.version, self.doc_type, self.namespace, self.elements = version, doc_type, namespace, elements
        self.name = f"v{version}-{len(elements)} {doc_type}"
        self.folder = Path(f"{version}-{len(elements)}-{doc_type}")
        self.circuits = self.folder / "circuits"
        self.circuits.mkdir(parents=True)
        [file] = CIRCUITS.glob(f"*_{version}_{len(elements)}_*")
        (self.circuits / file.name).write_bytes(file.read_bytes())
        self.circuit, self.label = file.read_bytes(), file.name

    def make(self, zk):
        """An answer of the mock wallet: a proof, or the plain document over the same transcript."""
        response, transcript = self.folder / f"{zk}.cbor", self.folder / "transcript.cbor"
        options = ["--circuits", self.circuits] if zk != "off" else []
        over = "--transcript" if transcript.exists() else "--new-transcript"
        status, output, _ = run(
            "mock", "response", over, transcript, "--out", response, "--request",
            request(self.doc_type, self.namespace, self.elements, zk), *(PERSON if self.doc_type == AGE else []), *options)
        assert status == 0, output
        return response, transcript

    def verify(self, response, transcript, zk="required"):
        status, output, seconds = run(
            "verify", "response", "--response", response, "--transcript", transcript, "--trust", "anchors",
            "--circuits", self.circuits, "--request", request(self.doc_type, self.namespace, self.elements, zk))
        return status, output, seconds


def statement(data):
    """What pylongfellow verifies of a ZkDocumentData."""
    chain = data["msoX5chain"]
    key = x509.load_der_x509_certificate(chain if isinstance(chain, bytes) else chain[0]).public_key().public_numbers()
    [(namespace, items)] = data["issuerSigned"].items()
    claims = [
        RequestedAttribute(namespace, item["elementIdentifier"], cbor2.dumps(item["elementValue"])) for item in items
    ]
    return PublicKey(key.x, key.y), claims


def accepts(backend, key, transcript, claims, timestamp, proof, doc_type):
    try:
        backend.verify(key, transcript, claims, timestamp, proof, doc_type, device_namespaces=b"\xa0")
        return True
    except Exception:
        return False


def trial(case, figures):
    backends = {name: Pylongfellow(backend=name) for name in ("google-cpp", "isrg-rust")}
    for backend in backends.values():
        backend.load_circuit(case.circuit, case.version, len(case.elements))

    # Our proofs, judged by both.
    response, transcript_file = case.make("required")
    transcript = transcript_file.read_bytes()
    document = cbor2.loads(response.read_bytes())["zkDocuments"][0]
    raw = document["documentData"].value
    timestamp_text = raw[raw.index(b"timestamp") + 11:][:20].decode()
    timestamp = datetime.fromisoformat(timestamp_text.replace("Z", "+00:00"))
    data = cbor2.loads(raw, tag_hook=lambda decoder, tag: tag)
    key, claims = statement(data)
    for name, backend in backends.items():
        known = (key, transcript, claims, timestamp)
        expect(accepts(backend, *known, document["proof"], case.doc_type), f"{case.name}: {name} refuses our proof")
        wrong = accepts(backend, *known, flipped(document["proof"]), case.doc_type)
        expect(not wrong, f"{case.name}: {name} accepts our flipped proof")
        other = accepts(backend, key, transcript + b"\0", claims, timestamp, document["proof"], case.doc_type)
        expect(not other, f"{case.name}: {name} accepts our proof in another session")
    status, output, _ = case.verify(response, transcript_file)
    expect(status == 0, f"{case.name}: we refuse our own proof: {output[:200]}")

    # Their proofs, judged by us. The plain answer has what their provers need.
    plain, _ = case.make("off")
    for name, backend in backends.items():
        seconds, proof = cpu(lambda: backend.prove(plain.read_bytes(), key, transcript, claims, timestamp))
        if (case.version, len(case.elements)) in MEASURED and case.doc_type == MDL:
            figures.setdefault((case.name, f"{name} prove"), []).append(seconds)
        for made, wanted in ((proof, 0), (flipped(proof), 1)):
            answer = cbor2.loads(response.read_bytes())
            answer["zkDocuments"][0]["proof"] = made
            theirs = case.folder / f"{name}-{wanted}.cbor"
            theirs.write_bytes(cbor2.dumps(answer))
            status, output, _ = case.verify(theirs, transcript_file)
            expect(status == wanted, f"{case.name}: {name}'s proof, wanted {wanted}, got {status}: {output[:200]}")

    print(f"{case.name}: tried", flush=True)
    # What verification takes: theirs parses the circuit in each call, ours when the program starts.
    for _ in range(3 if (case.version, len(case.elements)) in MEASURED and case.doc_type == MDL else 0):
        load = run("circuits", "check", case.circuits)[2]
        ours = case.verify(response, transcript_file)[2]
        theirs = cpu(lambda: accepts(
            backends["google-cpp"], key, transcript, claims, timestamp, document["proof"], case.doc_type))[0]
        figures.setdefault((case.name, "we verify, circuit loaded"), []).append(ours - load)
        figures.setdefault((case.name, "we verify, from the start"), []).append(ours)
        figures.setdefault((case.name, "google-cpp verify"), []).append(theirs)


def main():
    assert run("mock", "anchors", "--out", "anchors")[0] == 0
    # The mock's anchors are for other types; a proof of age has one element.
    for file in Path("anchors").glob("*.json"):
        settings = json.loads(file.read_text())
        file.write_text(json.dumps(settings | {"doc_types": [MDL, AGE]}))
    Path("person.json").write_text(
        json.dumps({"doc_type": AGE, "age_over": [], "namespaces": {AGE: {"age_over_18": True}}}))
    figures = {}
    for version in (6, 7):
        for count in (1, 2, 3, 4):
            trial(Case(version, MDL, NAMESPACE, ELEMENTS[:count]), figures)
        trial(Case(version, AGE, AGE, ["age_over_18"]), figures)
    for (case, what), seconds in figures.items():
        print(f"{case:28} {what:28} {statistics.median(seconds) * 1000:7.0f} ms")
    print("accepted and refused as expected" if not failures else f"{len(failures)} wrong")
    return 1 if failures else 0


sys.exit(main())
