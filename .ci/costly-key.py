#!/usr/bin/env python3
"""Hands RSA keys of some thousand bits to a server in test mode, as one tenant could, and says what the others notice.

    .ci/costly-key.py [MDOC]        the program; .build/debug/mdoc without it

Loopback only. For each key two answers are posted at one time, while /healthz is asked; then the server is stopped. Every
answer must be a refusal of the key, nobody may wait longer than a second, and the process must end. The keys are of
Mersenne primes, which cost a check of the whole key the most."""
import base64, json, math, signal, subprocess, sys, threading, time, urllib.error, urllib.request

EXPONENTS = [(2203, 2281), (9689, 9941), (19937, 21701)]
PATIENCE = 60


def der(tag, content):
    length = len(content)
    octets = bytes([length]) if length < 0x80 else (lambda n: bytes([0x80 | len(n)]) + n)(
        length.to_bytes((length.bit_length() + 7) // 8, "big"))
    return bytes([tag]) + octets + content


def rsa(first, second):
    p, q, e = 2**first - 1, 2**second - 1, 65537
    while math.gcd(e, math.lcm(p - 1, q - 1)) != 1:
        e += 2
    d = pow(e, -1, math.lcm(p - 1, q - 1))
    numbers = [0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p)]
    content = b"".join(der(2, n.to_bytes(n.bit_length() // 8 + 1, "big")) for n in numbers)
    text = base64.b64encode(der(0x30, content)).decode()
    return "-----BEGIN RSA PRIVATE KEY-----\n" + text + "\n-----END RSA PRIVATE KEY-----\n"


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# P-256's generator as a COSE_Key, and a DeviceEngagement with it.
POINT = ["6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
         "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"]
KEY = bytes.fromhex("a401022001215820" + POINT[0] + "225820" + POINT[1])
ENGAGEMENT = bytes.fromhex("a20063312e30018201d818" + "58" + format(len(KEY), "02x")) + KEY


def call(base, path, body=None, key=None):
    request = urllib.request.Request(base + path, data=None if body is None else json.dumps(body).encode())
    if key:
        request.add_header("Authorization", "Bearer " + key)
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError as error:
        return 0, {"code": str(error)}


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/mdoc"
    good = True
    for first, second in EXPONENTS:
        server = subprocess.Popen(
            [program, "serve", "--test-mode", "--listen", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        announced = json.loads(server.stdout.readline())
        base, key, pem = announced["base_url"], announced["api_key"], rsa(first, second)
        document = {"doc_type": "org.iso.18013.5.1.mDL",
                    "elements": [{"namespace": "org.iso.18013.5.1", "identifier": "given_name"}]}
        replies = []

        def submit():
            status, session = call(base, "/v1/verification_sessions", {
                "protocols": ["iso-18013-5-proximity"], "documents": [document]}, key)
            begun = time.monotonic()
            data = {"device_engagement": text(ENGAGEMENT), "e_reader_key": text(KEY), "handover": "qr",
                    "device_response": text(b"\xa0"), "reader_private_key": pem}
            status, reply = call(base, f"/v1/verification_sessions/{session.get('id')}/submit",
                                 {"protocol": "iso-18013-5-proximity", "data": data}, key)
            errors = reply.get("errors") or [{}]
            replies.append((status, reply.get("code"), errors[0].get("pointer"), time.monotonic() - begun))

        threads = [threading.Thread(target=submit, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        slowest, end = 0, time.monotonic() + PATIENCE
        while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
            begun = time.monotonic()
            call(base, "/healthz")
            slowest = max(slowest, time.monotonic() - begun)
            time.sleep(0.05)
        begun = time.monotonic()
        server.send_signal(signal.SIGTERM)
        try:
            ended = str(server.wait(PATIENCE))
        except subprocess.TimeoutExpired:
            server.kill()
            ended = "killed"
        stop = time.monotonic() - begun
        refused = [reply[:3] == (400, "api.invalid_request", "/data/reader_private_key") for reply in replies]
        times = ", ".join(f"{reply[3] * 1000:.0f} ms ({reply[0]})" for reply in replies) or f"none in {PATIENCE} s"
        print(f"RSA of {first + second} bits, {len(pem)} bytes: answers {times}; slowest /healthz {slowest * 1000:.0f} ms; "
              f"stop {stop:.1f} s, status {ended}", flush=True)
        good = good and refused == [True, True] and slowest < 1 and ended == "0"
    sys.exit(0 if good else 1)


main()
