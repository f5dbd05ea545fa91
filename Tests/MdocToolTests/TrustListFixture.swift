import Base
import Mock
import PKIX
import Testing

/// Files of the mock publishers for the responses of `mdoc mock`, at one time.
final class TrustListFixture {
  static let time = "2026-11-20T10:00:00Z"
  static let crlAddress = "https://iaca.mdoc-mock.invalid/iaca.crl"

  let scratch: Scratch
  let authority: MockAuthority
  let now: Timestamp
  var at: [String] { ["--at", Self.time] }

  init() throws {
    scratch = try Scratch()
    authority = try MockAuthority(seed: Array("mdoc mock".utf8))
    now = try #require(Timestamp(rfc3339: Self.time))
    try scratch.write(
      "vical-root.pem", PEM.encode(certificate: MockList.Kind.vical.signerAnchor(of: authority, at: now)))
    try scratch.write(
      "lote-root.pem", PEM.encode(certificate: MockList.Kind.trustedEntities.signerAnchor(of: authority, at: now)))
  }

  func vical(_ name: String) throws -> String {
    try scratch.write("\(name).cbor", #require(MockList.named(name)).published(by: authority, now: now))
  }

  func lote(_ name: String) throws -> String {
    try scratch.write("\(name).jwt", #require(MockList.named(name)).published(by: authority, now: now))
  }

  func crl(_ name: String) throws -> String {
    try scratch.write("\(name).crl", #require(MockList.named(name)).published(by: authority, now: now))
  }

  /// The mock authority's anchors, and a response in person.
  func makeAnswer(_ variant: String = "good") async {
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + at).status == 0)
    let answer = [
      "mock", "response", "--new-transcript", scratch("t.cbor"), "--out", scratch("r.cbor"), "--variant", variant,
    ]
    #expect(await Run(answer + at).status == 0)
  }
}

extension JSON {
  /// The codes of `checks` with an outcome.
  func codes(_ outcome: String) -> [String] {
    (self["checks"]?.array ?? []).filter { $0["outcome"]?.string == outcome }.compactMap { $0["code"]?.string }
  }
}
