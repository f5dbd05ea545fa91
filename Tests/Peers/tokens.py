"""The parts of `tokens` that are not commands: certificates, the wallet's file, the judge of signatures, faults."""
import base64, datetime, hashlib, json, os, pathlib, signal, subprocess, sys, threading, time, urllib.error, urllib.parse, urllib.request

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from jwcrypto import jwk, jws

ORIGIN, MDL, NAMESPACE = "https://shop.example", "org.iso.18013.5.1.mDL", "org.iso.18013.5.1"
KEY, URL = os.environ["MDOC_KEY"], os.environ.get("MDOC_URL")


def issuer():
    """An authority of issuers and its document signer, in the profile of ISO/IEC 18013-5, B.1."""
    now, keys = datetime.datetime.now(datetime.timezone.utc), [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    alternative = [x509.UniformResourceIdentifier("https://iaca.example")]
    for index, (name, path) in enumerate([("Trial IACA", "config/iaca.pem"), ("Trial signer", "wallet/signer.pem")]):
        is_authority = index == 0
        attributes = [("C", x509.NameOID.COUNTRY_NAME, "US"), ("ST", x509.NameOID.STATE_OR_PROVINCE_NAME, "US-UT")]
        names = [x509.Name([x509.NameAttribute(oid, value) for _, oid, value in attributes]
                           + [x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in [name, "Trial IACA"]]
        builder = (
            x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1]).public_key(keys[index].public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=60))
            .not_valid_after(now + datetime.timedelta(days=300))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(keys[index].public_key()), False)
            .add_extension(x509.KeyUsage(not is_authority, False, False, False, False, is_authority, is_authority, False, False), True)
            .add_extension(x509.IssuerAlternativeName(alternative), False)
            .add_extension(x509.CRLDistributionPoints([x509.DistributionPoint(alternative, None, None, None)]), False))
        if is_authority:
            builder = builder.add_extension(x509.BasicConstraints(True, 0), True)
        else:
            builder = builder.add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), False
            ).add_extension(x509.ExtendedKeyUsage([x509.ObjectIdentifier("1.0.18013.5.1.2")]), True)
        made = builder.sign(keys[0], hashes.SHA256())
        pathlib.Path(path).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pathlib.Path("wallet/signer.key").write_bytes(keys[1].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def verifier(path):
    """The wallet's file for this server, which does not tell its values as a server in test mode does."""
    file = json.loads(pathlib.Path(path).read_text())
    for name in ["prepare", "seed", "lists"]:
        del file[name]
    point = base64.b64encode(pathlib.Path("merchant.der").read_bytes()[-65:]).decode()
    values = {"${key}": KEY, "${merchant}": "merchant.example.shop", "${team}": "ABCDE12345", "${point}": point}
    text = json.dumps(file)
    for name, value in values.items():
        text = text.replace(name, value)
    print(text)


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def call(path, body=None, key=KEY, timeout=30):
    """The status, header and body of a reply."""
    address = path if path.startswith("http") else URL + path
    request = urllib.request.Request(address, None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if key:
        request.add_header("Authorization", "Bearer " + key)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def create(*protocols, key=KEY, origin=ORIGIN):
    documents = [{"doc_type": MDL, "elements": [
        {"namespace": NAMESPACE, "identifier": "given_name", "intent_to_retain": True}]}]
    body = {"protocols": list(protocols), "documents": documents}
    if any(name.startswith(("openid4vp-v1", "org-iso")) for name in protocols):
        body["origin"] = origin
    return call("/v1/verification_sessions", body, key)


def created(*protocols, **options):
    status, _, body = create(*protocols, **options)
    assert status == 201, (status, body)
    session = json.loads(body)
    return session["id"], {one["protocol"]: one["data"] for one in session["requests"]}


# MARK: The judge


def leaf(chain):
    """The curve of the certificate that comes first, which must be a reader's and known to its authority."""
    certificate = x509.load_der_x509_certificate(chain[0])
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(pathlib.Path("readers.pem").read_bytes()))
    known = [x509.load_pem_x509_certificate(path.read_bytes()) for path in pathlib.Path("config").glob("reader-*.pem")]
    assert certificate in known
    return certificate


def judge_jws(text):
    """The curves of the signatures of a JWS, by jwcrypto."""
    signed = jws.JWS()
    signed.deserialize(text)
    entries = json.loads(text)["signatures"] if text.startswith("{") else [{"protected": text.split(".")[0]}]
    curves = []
    for index, entry in enumerate(entries):
        header = json.loads(unb64(entry["protected"]))
        key = leaf([base64.b64decode(one) for one in header["x5c"]]).public_key()
        one = jws.JWS()
        if text.startswith("{"):
            one.deserialize(json.dumps({"payload": json.loads(text)["payload"], "signatures": [entry]}))
        else:
            one.deserialize(text)
        one.allowed_algs = [header["alg"]]
        one.verify(jwk.JWK.from_pem(key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)))
        assert header["alg"] == {256: "ES256", 384: "ES384", 521: "ES512"}[key.key_size], header["alg"]
        curves.append(key.key_size)
    return curves


def judge_device_request(data):
    """The curves of the readers' signatures of ISO/IEC TS 18013-7, Annex C, by cryptography."""
    handover = ["dcapi", hashlib.sha256(cbor2.dumps([data["encryptionInfo"], ORIGIN])).digest()]
    curves = []
    for document in cbor2.loads(unb64(data["deviceRequest"]))["docRequests"]:
        protected, unprotected, payload, signature = document["readerAuth"]
        chain = unprotected[33]
        key = leaf([chain] if isinstance(chain, bytes) else chain).public_key()
        signed = cbor2.dumps(["ReaderAuthentication", [None, None, handover], document["itemsRequest"]])
        assert payload is None
        structure = cbor2.dumps(["Signature1", protected, b"", cbor2.dumps(cbor2.CBORTag(24, signed))])
        half = len(signature) // 2
        r, s = (int.from_bytes(part, "big") for part in [signature[:half], signature[half:]])
        algorithm = {-7: hashes.SHA256(), -35: hashes.SHA384(), -36: hashes.SHA512()}[cbor2.loads(protected)[1]]
        key.verify(utils.encode_dss_signature(r, s), structure, ec.ECDSA(algorithm))
        curves.append(key.key_size)
    return curves


def fetched(data):
    link = urllib.parse.parse_qs(urllib.parse.urlsplit(data["authorization_request"]).query)
    status, _, body = call(link["request_uri"][0], key=None)
    assert status == 200, (status, body)
    return body.decode()


def judge():
    web = ["org-iso-mdoc", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    _, requests = created(*web)
    found = {
        web[0]: judge_device_request(requests[web[0]]), web[1]: judge_jws(requests[web[1]]["request"]),
        web[2]: judge_jws(json.dumps(requests[web[2]]["request"]))}
    for link in ["openid4vp", "openid4vp-iso-18013-7-annex-b"]:
        found[link] = judge_jws(fetched(created(link)[1][link]))
    print("signed by", found)
    assert found[web[2]] == [256, 384, 521] and all(curves for curves in found.values()), found


# MARK: Wallets


def mdoc(*arguments):
    issuer = ["--issuer-key", "wallet/signer.key", "--issuer-chain", "wallet/signer.pem"]
    return subprocess.run([os.environ["MDOC"], *arguments, *issuer], capture_output=True, text=True, timeout=60)


def status_of(session):
    reply = json.loads(call(f"/v1/verification_sessions/{session}")[2])
    return reply["status"], (reply["last_error"] or {}).get("code")


def submit_near(session, variant="good"):
    """What a reader's app sends in person: a response with no element but the one that is requested."""
    wanted = {"documents": [{"doc_type": MDL, "elements": [{"namespace": NAMESPACE, "identifier": "given_name"}]}]}
    run = mdoc("mock", "response", "--variant", variant, "--new-transcript", "transcript.cbor", "--out", "response.cbor",
               "--request", json.dumps(wanted))
    assert run.returncode == 0, run.stderr
    near = {name: b64(pathlib.Path(file).read_bytes()) for name, file in [
        ("device_response", "response.cbor"), ("session_transcript", "transcript.cbor")]}
    body = {"protocol": "iso-18013-5-proximity", "data": near}
    return json.loads(call(f"/v1/verification_sessions/{session}/submit", body)[2])


def wallets():
    """`mdoc wallet` by a link and by the Digital Credentials API, and a reader's app in person: right, then wrong."""
    for variant, verdict in [("good", ("verified", None)), ("device-signature-zero", ("failed", "mdoc.device_auth.signature_invalid"))]:
        session, data = created("openid4vp")
        mdoc("wallet", "--yes", "--root", "readers.pem", "--variant", variant, data["openid4vp"]["authorization_request"])
        assert status_of(session) == verdict, status_of(session)
        session, data = created("openid4vp-v1-signed")
        entry = {"protocol": "openid4vp-v1-signed", "data": data["openid4vp-v1-signed"]}
        pathlib.Path("request.json").write_text(json.dumps(entry))
        run = mdoc("wallet", "--yes", "--root", "readers.pem", "--variant", variant, "--request", "request.json",
                   "--origin", ORIGIN, "--out", "answer.json")
        assert run.returncode == 0, run.stdout + run.stderr
        answer = json.loads(pathlib.Path("answer.json").read_text())
        answer = answer if "protocol" in answer else {"protocol": entry["protocol"], "data": answer}
        call(f"/v1/verification_sessions/{session}/submit", answer)
        assert status_of(session) == verdict, status_of(session)
        session, _ = created("iso-18013-5-proximity")
        submit_near(session, variant)
        assert status_of(session) == verdict, status_of(session)
    print("wallets: a link, a page and in person, each right and wrong")


def begin():
    """Leaves a session that waits for the response in answer.json, and a verified one with evidence."""
    session, data = created("openid4vp-v1-signed")
    pathlib.Path("request.json").write_text(json.dumps(
        {"protocol": "openid4vp-v1-signed", "data": data["openid4vp-v1-signed"]}))
    run = mdoc("wallet", "--yes", "--root", "readers.pem", "--request", "request.json", "--origin", ORIGIN, "--out", "answer.json")
    assert run.returncode == 0, run.stdout + run.stderr
    pathlib.Path("waiting").write_text(session)
    session, _ = created("iso-18013-5-proximity")
    body = submit_near(session)
    assert body["evidence"] == "kept", body
    pathlib.Path("kept").write_text(session)
    pathlib.Path("session.evidence").write_bytes(call(f"/v1/verification_sessions/{session}/evidence")[2])


def resume():
    """The restarted server opens what the one before has sealed."""
    session, answer = pathlib.Path("waiting").read_text(), json.loads(pathlib.Path("answer.json").read_text())
    if "protocol" not in answer:
        answer = {"protocol": "openid4vp-v1-signed", "data": answer}
    reply = json.loads(call(f"/v1/verification_sessions/{session}/submit", answer)[2])
    assert reply["status"] == "verified" and reply["result"]["documents"], reply
    bundle = call(f"/v1/verification_sessions/{pathlib.Path('kept').read_text()}/evidence")[2]
    assert bundle == pathlib.Path("session.evidence").read_bytes()
    print("a restarted server with its keys in another order opens the challenge of before")


# MARK: Faults of a token


def fault(text):
    path = pathlib.Path("fault.new")
    path.write_text(text + "\n")
    path.rename("fault")


def timed(work, *arguments, **options):
    begun = time.monotonic()
    result = work(*arguments, **options)
    return time.monotonic() - begun, result


def refused(reply, seconds, least=0.0, most=4.0):
    """The reply of a request that needs a token that does not do its work."""
    status, header, body = reply
    assert status == 503 and json.loads(body)["code"] == "api.key_unavailable", reply
    assert int(header["Retry-After"]) > 0 and least <= seconds <= most, (seconds, dict(header))


def apple():
    """The submit of a right response that is encrypted to the merchant's key in the token."""
    session, data = created("apple-in-app")
    run = mdoc("mock", "apple", "--nonce", data["apple-in-app"]["nonce"], "--merchant-id", "merchant.example.shop",
               "--team-id", "ABCDE12345", "--recipient", "merchant.pub", "--out", "apple.cbor", "--request", json.dumps(
                   {"documents": [{"doc_type": MDL, "elements": [{"namespace": NAMESPACE, "identifier": "given_name"}]}]}))
    assert run.returncode == 0, run.stderr
    envelope = base64.b64encode(pathlib.Path("apple.cbor").read_bytes()).decode()
    return f"/v1/verification_sessions/{session}/submit", {"protocol": "apple-in-app", "data": {"encrypted_data": envelope}}


def verified(reply):
    assert reply[0] == 200 and json.loads(reply[2])["status"] == "verified", reply


def token_up():
    text = call("/metrics", key=None)[2].decode()
    return [line for line in text.splitlines() if line.startswith("mdoc_token_up{")]


def recovers(most=5.0):
    """Waits until the server is ready by itself."""
    begun = time.monotonic()
    while (status := call("/readyz", key=None)[0]) != 200:
        assert status == 503 and time.monotonic() - begun < most, "the server does not become ready again"
        time.sleep(0.1)
    assert token_up() == ['mdoc_token_up{token="mdoc"} 1'], token_up()
    return time.monotonic() - begun


def quick(most=1.0):
    """Requests that need no token."""
    for work in [lambda: call("/healthz", key=None), lambda: create("openid4vp-v1-unsigned", key=KEY + "-plain", origin="https://plain.example"),
                 lambda: call(f"/v1/verification_sessions/{reading}"), lambda: create("apple-in-app"),
                 lambda: create("iso-18013-5-proximity"), lambda: create("openid4vp-v1-unsigned")]:
        seconds, (status, _, body) = timed(work)
        assert status in (200, 201) and seconds < most, (status, seconds, body)


def server_state():
    tasks = len(os.listdir(f"/proc/{server}/task"))
    resident = next(int(line.split()[1]) for line in open(f"/proc/{server}/status") if line.startswith("VmRSS"))
    return tasks, resident


def beside(count, work):
    """Runs the work on as many threads, and returns its results."""
    results = [None] * count
    def run(index):
        results[index] = work()
    threads = [threading.Thread(target=run, args=[index]) for index in range(count)]
    for thread in threads:
        thread.start()
    return threads, results


SIGNED = "openid4vp-v1-signed"


def faults():
    global server, reading
    server, reading = int(pathlib.Path("server.pid").read_text()), created(SIGNED)[0]
    path, response = apple()

    # A call that does not return.
    for text in ["hang C_Sign", "hang"]:
        fault(text)
        threads, results = beside(1, lambda: timed(create, SIGNED))
        time.sleep(0.3)
        quick()
        threads[0].join()
        refused(results[0][1], results[0][0], least=2.5)
        fault("ok")
        recovers()
    fault("hang")
    seconds, reply = timed(call, path, response)
    refused(reply, seconds, least=2.5)
    seconds, (status, _, body) = timed(call, "/readyz", key=None)
    assert status == 503 and json.loads(body)["code"] == "api.key_unavailable" and seconds < 4, (status, body, seconds)
    assert token_up() == ['mdoc_token_up{token="mdoc"} 0'], token_up()
    fault("ok")
    print(f"a token that hangs: recovered in {recovers():.1f} s")
    verified(call(path, response))

    # What a reset leaves: the next request works.
    for text in ["reset", "closed", "loggedout", "finalized"]:
        path, response = apple()
        fault(text)
        reply = create(SIGNED)
        assert reply[0] == 201, (text, reply)
        fault("ok")
        fault(text)
        verified(call(path, response))
        fault("ok")
    print("a reset, closed sessions, a lost login, a finalized module: the next request works")

    # Errors that last, and a token that is away.
    for text in ["error 0x30", "error 0x6 C_Sign", "error 0x31", "gone"]:
        path, response = apple()
        fault(text)
        seconds, reply = timed(create, SIGNED)
        refused(reply, seconds)
        if "C_Sign" not in text:
            seconds, reply = timed(call, path, response)
            refused(reply, seconds)
            assert call("/readyz", key=None)[0] == 503
        quick()
        fault("ok")
        print(f"{text}: recovered in {recovers():.1f} s")
        verified(call(path, response))
        assert create(SIGNED)[0] == 201

    # Many requests while the token hangs.
    rounds = []
    for index in range(3):
        before = server_state()
        fault("hang")
        threads, results = beside(200, lambda: timed(create, SIGNED))
        # Those that wait for a thread of the token give up after a second.
        time.sleep(1.5)
        quick()
        for thread in threads:
            thread.join()
        assert all(reply[0] in (503, 429) for _, reply in results), results
        slowest = max(seconds for seconds, _ in results)
        fault("ok")
        recovers()
        beside_threads, replies = beside(50, lambda: create(SIGNED))
        for thread in beside_threads:
            thread.join()
        assert all(reply[0] == 201 for reply in replies), replies
        for _ in range(100):
            time.sleep(0.1)
            if server_state()[0] <= before[0]:
                break
        rounds.append((before, server_state(), slowest))
        print(f"200 requests while the token hangs: slowest {slowest:.1f} s; threads and KiB before {before}, after {server_state()}")
    assert rounds[-1][1][0] <= rounds[0][0][0] + 2, "threads stay behind"
    assert rounds[-1][1][1] - rounds[0][1][1] < 16384, "memory stays behind"


def reload():
    """Reloads while the token signs as much as it can: each takes, and no request fails."""
    is_over, failed = threading.Event(), []
    def run():
        while not is_over.is_set():
            reply = create(SIGNED)
            if reply[0] != 201:
                failed.append(reply)
    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for count in range(1, 6):
        os.kill(int(pathlib.Path("server.pid").read_text()), signal.SIGHUP)
        for _ in range(100):
            time.sleep(0.1)
            if pathlib.Path("server.log").read_text().count('"configuration.reloaded"') == count:
                break
        else:
            raise SystemExit("a reload failed beside requests: " + pathlib.Path("server.log").read_text()[-2000:])
    is_over.set()
    for thread in threads:
        thread.join()
    assert not failed, failed[:3]
    print("five reloads beside requests")


def remote():
    status, _, body = create(SIGNED, "openid4vp-v1-multisigned")
    assert status == 201, body
    assert judge_jws(json.dumps(json.loads(body)["requests"][1]["data"]["request"])) == [256, 384, 521]
    recovers()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
