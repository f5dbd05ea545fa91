import Base
import Mdoc
import Testing
import Trust

@testable import Mock

/// The rules of a list hold in its JSON form as well.
@Suite struct StatusListJWTTests {
  let fixture: StatusFixture

  init() throws { fixture = try StatusFixture() }

  private static let reasons: KeyValuePairs<String, String> = [
    "other-subject": "sub is not", "without-subject": "sub is missing", "expired": "expired",
    "without-expiry": "exp is missing", "future": "issued in the future", "without-date": "iat is missing",
    "not-before": "not yet valid", "ttl-zero": "ttl is", "without-type": "typ is not", "wrong-type": "typ is not",
    "without-chain": "names no signer", "other-root": "no anchor", "other-anchor": "no anchor",
    "other-key": "signature does not verify", "certificate-other": "no anchor", "signer-reader": "extKeyUsage",
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "is itself the anchor",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    for (name, reason) in Self.reasons {
      let token = try #require(ListTokenDraft.wrongTokens.first { $0.name == name })
      let finding = try fixture.finding(MockStatusList("test", "A test.", nil, isJWT: true, token.change))
      #expect(finding.code == .statusListInvalid)
      #expect(finding.detail?.contains(reason) == true, "\(name): \(finding)")
    }
  }

  private func parts() throws -> [String] {
    let bytes = try MockStatusList("test", "A test.", nil, isJWT: true)
      .published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    return String(decoding: bytes, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
  }

  private func finding(_ parts: [String]) -> RevocationFinding {
    fixture.finding(.mock(), Array(parts.joined(separator: ".").utf8), allowsJWT: true)
  }

  @Test func aTokenThatWasChangedAfterItWasSignedIsRefused() throws {
    let parts = try parts()
    #expect(finding(parts) == .good)
    let payload = try #require(Base64.decodeURLSafe(parts[1]))
    let longer = Base64.encodeURLSafe(payload + Array(" ".utf8))
    #expect(finding([parts[0], longer, parts[2]]).detail?.contains("does not verify") == true)
    #expect(finding([parts[0], parts[1], ""]).detail?.contains("does not verify") == true)
    #expect(finding([parts[0], parts[1], parts[2] + "="]).code == .statusListInvalid)
    #expect(finding([parts[0], parts[1]]).code == .statusListInvalid)
  }

  @Test func aTokenThatSaysItNeedsNoSignatureIsRefused() throws {
    let parts = try parts()
    let header = try #require(Base64.decodeURLSafe(parts[0]))
    for algorithm in ["none", "HS256", "RS256", "es256"] {
      let text = String(decoding: header, as: UTF8.self).replacing("\"ES256\"", with: "\"\(algorithm)\"")
      let changed = Base64.encodeURLSafe(Array(text.utf8))
      #expect(finding([changed, parts[1], ""]).detail?.contains("algorithm is not supported") == true)
    }
  }
}
