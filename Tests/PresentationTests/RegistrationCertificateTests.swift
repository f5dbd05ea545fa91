import Base
import Cryptography
import Presentation
import TestSupport
import Testing

/// Registration certificates of EU relying parties, correct or wrong in one respect.
@Suite struct RegistrationCertificateTests {
  private let registrar: RegistrationFixture
  private let now = Timestamp(secondsSince1970: 1_795_000_000)

  init() throws { registrar = try RegistrationFixture() }

  @Test func `either form says what is registered`() throws {
    for bytes in [try registrar.jws(at: now), try registrar.cwt(at: now)] {
      let certificate = try RegistrationCertificate(parsing: bytes)
      #expect(certificate.subject == RegistrationFixture.party && certificate.intendedUseID == "use-1")
      #expect(certificate.registersAnything && certificate.status?.uri == "https://registrar.example/status")
      // No registrar is known here, so no list is fetched.
      #expect(certificate.statusQuestion == nil)
    }
  }

  @Test func `what wallets cannot read is refused, and says why`() throws {
    let other = try PrivateKey(generatingOn: .p256)
    let signed = try registrar.jws(at: now)
    var damaged = try registrar.cwt(at: now)
    damaged[damaged.count - 1] ^= 1
    let refused: [([UInt8], String)] = [
      (Array("no certificate".utf8), "is neither a compact JWS nor a COSE_Sign1"), ([], "is neither"),
      (Array("eyJ".utf8), "is neither"), (Array(signed.dropLast(90)), "is neither"), ([0xd2, 0x80], "is neither"),
      (
        try registrar.jws(header: ["typ": "rc-rp+jwt"], at: now),
        "has the type rc-rp+jwt, which belongs to another profile"
      ),
      (try registrar.jws(header: ["typ": "JWT"], at: now), "has the type JWT; rc-wrp+jwt is needed"),
      (try registrar.jws(header: ["typ": .null], at: now), "has the type (none); rc-wrp+jwt is needed"),
      (try registrar.cwt(type: "rc-wrp+jwt", at: now), "has the type rc-wrp+jwt; rc-wrp+cwt is needed"),
      (try registrar.cwt(type: 7, at: now), "has the type (none)"),
      (try registrar.cwt(tag: 61, at: now), "is neither"),
      (try registrar.jws(header: ["foo": 1, "crit": ["foo"]], at: now), "has an unknown critical header parameter"),
      (try registrar.jws(header: ["b64": false, "crit": ["b64"]], at: now), "has an unknown critical header"),
      (try registrar.jws(header: ["x5c": .null], at: now), "needs 1 to 5 certificates of its signer under x5c"),
      (try registrar.jws(payload: ["a"], at: now), "is neither"),
      (try registrar.cwt(payload: ["a"], at: now), "is neither"),
      (
        try registrar.jws(header: ["x5c": [.string(Base64.encode(registrar.signer)), "AAAA"]], at: now),
        "needs 1 to 5 certificates of its signer under x5c"
      ),
      (try registrar.jws(header: ["x5c": ["AAAA"]], at: now), "needs 1 to 5 certificates of its signer under x5c"),
      (try registrar.jws(at: now, key: other), "is not signed by the first certificate of x5c"),
      (damaged, "is not signed by the first certificate of x5chain"),
      (try registrar.jws(["exp": "never"], at: now), "has no date in whole seconds under exp"),
      (try registrar.jws(["iat": .integer(.max)], at: now), "has no date in whole seconds under iat"),
      (
        try registrar.jws(["name": .string(String(repeating: "x", count: 16_384))], at: now),
        "has more than 16384 bytes"
      ),
    ]
    for (bytes, reason) in refused {
      let error = #expect(throws: RegistrationCertificateError.self) { try RegistrationCertificate(parsing: bytes) }
      #expect(error?.detail.hasPrefix(reason) == true, "\(String(describing: error)), \(reason)")
    }
  }
}
