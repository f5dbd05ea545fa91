"""The parts of `tokens` that are not commands: certificates, the wallet's file, the judge of signatures, faults."""
import base64, datetime, hashlib, json, os, pathlib, sys, urllib.request

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
