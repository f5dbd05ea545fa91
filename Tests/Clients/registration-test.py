"""Makes a configuration with registration certificates (`make`), and judges the requests of its server (`judge`)."""
import base64, datetime, hashlib, json, os, pathlib, sys, urllib.request

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID
from openvc import rp_cert, rp_registration as registration

PARTY, MDL, NAMESPACE = "VATDE-123456789", "org.iso.18013.5.1.mDL", "org.iso.18013.5.1"
API_KEY = "registration-test"
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def certificate(name, issuer=None, purposes=(), identifier=None):
    """A certificate on P-256 with its key; without an issuer an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [(NameOID.COUNTRY_NAME, "DE"), (NameOID.COMMON_NAME, name)]
    if identifier:
        attributes.append((NameOID.ORGANIZATION_IDENTIFIER, identifier))
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])
    above, above_key = issuer or (None, key)
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(above.subject if above else subject)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(NOW - datetime.timedelta(days=1)).not_valid_after(NOW + datetime.timedelta(days=300))
        .add_extension(x509.BasicConstraints(above is None, 0 if above is None else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(above_key.public_key()), False)
        .add_extension(x509.KeyUsage(above is not None, False, False, False, False, above is None, above is None,
                                     False, False), True))
    if above:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("shop.example")]), False)
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage([x509.ObjectIdentifier(p) for p in purposes]), True)
    return builder.sign(above_key, hashes.SHA256()), key


def pem(item):
    return item.public_bytes(serialization.Encoding.PEM)


def sign(message, key):
    r, s = utils.decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def make():
    issuing, readers, registrars = (certificate(name) for name in ["Issuer", "Readers", "Registrars"])
    reader, reader_key = certificate("Shop", readers, ["1.0.18013.5.1.6"], PARTY)
    registrar, registrar_key = certificate("Registrar", registrars)
    der = registrar.public_bytes(serialization.Encoding.DER)
    now = int(NOW.timestamp())

    def claims(use):
        return {
            "sub": PARTY, "name": "Shop", "country": "DE", "intended_use_id": use, "iat": now, "exp": now + 86400 * 200,
            "entitlements": ["https://uri.etsi.org/19475/Entitlement/Service_Provider"],
            "status": {"status_list": {"idx": 1, "uri": "https://registrar.example/status"}},
            "credentials": [
                {"format": "mso_mdoc", "meta": {"doctype_value": MDL}, "claim": [{"path": [NAMESPACE, name]}]}
                for name in ["given_name", "family_name", "age_over_18"]]}

    header = {"alg": "ES256", "typ": "rc-wrp+jwt", "x5c": [base64.b64encode(der).decode()], "iat": now, "crit": ["iat"]}
    signed = b64(json.dumps(header).encode()) + "." + b64(json.dumps(claims("use-1")).encode())
    protected = cbor2.dumps({1: -7, 16: "rc-wrp+cwt", 33: der})
    payload = cbor2.dumps({{"sub": 2, "exp": 4, "iat": 6}.get(name, name): value for name, value in claims("use-2").items()})
    to_be_signed = cbor2.dumps(["Signature1", protected, b"", payload])
    cwt = cbor2.CBORTag(18, [protected, {}, payload, sign(to_be_signed, registrar_key)])
    key = reader_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for name, content in {
        "issuer.pem": pem(issuing[0]), "readers.pem": pem(readers[0]), "registrars.pem": pem(registrars[0]),
        "reader-chain.pem": pem(reader), "reader.pem": key, "sealing.key": os.urandom(32),
        "registration.jwt": (signed + "." + b64(sign(signed.encode(), registrar_key)) + "\n").encode(),
        "registration.cwt": cbor2.dumps(cwt),
        "mdoc.json": json.dumps({
            "listen": "127.0.0.1:0", "public_url": "https://shop.example", "trust": ["issuer.pem"],
            "store": "sqlite:mdoc.sqlite", "sealing_keys": [{"id": "a", "file": "sealing.key"}],
            "registrars": ["registrars.pem"],
            "relying_parties": [{
                "id": "shop", "origins": ["https://shop.example"],
                "api_keys": [{"sha256": hashlib.sha256(API_KEY.encode()).hexdigest(), "scopes": ["sessions:write"]}],
                "readers": [{"key": "reader.pem", "certificates": "reader-chain.pem"}],
                "registration_certificates": ["registration.jwt", "registration.cwt"]}]}).encode(),
    }.items():
        path = pathlib.Path(name)
        path.write_bytes(content)
        path.chmod(0o600)


def call(path, body=None):
    request = urllib.request.Request(os.environ["MDOC_URL"] + path, json.dumps(body).encode() if body else None)
    request.add_header("Authorization", "Bearer " + API_KEY)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.read()
    except urllib.error.HTTPError as error:
        return error.read()


def create(protocols, elements, use):
    documents = [{"doc_type": MDL, "elements": [{"namespace": NAMESPACE, "identifier": name} for name in elements],
                  "age_over": [18]}]
    body = {"protocols": protocols, "documents": documents, "intended_use_id": use, "origin": "https://shop.example"}
    return json.loads(call("/v1/verification_sessions", body))


def anchors(name):
    return [x509.load_pem_x509_certificate(pathlib.Path(name).read_bytes())]


def judged(certificate, use):
    found = registration.verify_rp_registration_certificate(certificate, trust_anchors=anchors("registrars.pem"))
    access = rp_cert.verify_rp_access_certificate(
        anchors("reader-chain.pem")[0], trust_anchors=anchors("readers.pem"))
    registration.check_matches_access_certificate(found, access)
    assert found.intended_use_id == use, found.intended_use_id
    return found


def judge_object(protocol, payload):
    claims = json.loads(unb64(payload))
    [info] = claims["verifier_info"]
    assert info["format"] == "registration_cert" and set(info) == {"format", "data"}, info
    found = judged(info["data"], "use-1")
    registration.check_request_within_registration(found, claims["dcql_query"], intended_use_id="use-1")
    print(protocol, "accepted by openvc-core")
    return found


def judge():
    web = ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    requests = {r["protocol"]: r["data"] for r in create(web, ["given_name", "family_name"], "use-1")["requests"]}
    assert "verifier_info" not in requests[web[1]]
    found = judge_object(web[2], requests[web[2]]["request"].split(".")[1])
    judge_object(web[3], requests[web[3]]["request"]["payload"])
    link = create(["openid4vp"], ["given_name"], "use-1")
    judge_object("openid4vp", call(f"/v1/wallet/shop/{link['id']}/request").decode().split(".")[1])
    # openvc-core refuses what our server refuses.
    refused = create(["openid4vp"], ["portrait"], "use-1")
    assert refused["code"] == "api.outside_registration", refused
    query = {"credentials": [{"id": "d", "format": "mso_mdoc", "meta": {"doctype_value": MDL},
                              "claims": [{"path": [NAMESPACE, "portrait"]}]}]}
    try:
        registration.check_request_within_registration(found, query)
        raise SystemExit("openvc-core accepts an element that is not registered")
    except registration.RpRegistrationError:
        print("portrait refused by both")
    proximity = "iso-18013-5-proximity"
    for use, form in [("use-1", str), ("use-2", bytes)]:
        iso = create(["org-iso-mdoc"], ["given_name"], use)["requests"][0]["data"]["deviceRequest"]
        near = create([proximity], ["given_name"], use)["requests"][0]["data"]["device_request"]
        for protocol, text in [("org-iso-mdoc", iso), (proximity, near)]:
            for document in cbor2.loads(unb64(text))["docRequests"]:
                items = cbor2.loads(document["itemsRequest"].value)
                certificate = items["requestInfo"]["euWrprc"]
                judged(certificate.decode() if form is str else certificate, use)
            print(protocol, use, "euWrprc accepted by openvc-core")


make() if sys.argv[1] == "make" else judge()
