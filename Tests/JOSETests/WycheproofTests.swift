import Base
import TestSupport
import Testing

@testable import JOSE

/// C2SP/wycheproof: supported tests agree with it. Unsupported tests (RSA and HMAC) are counted by name.
@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct WycheproofTests {
  @Test func verifiesSignatures() throws {
    var tally = try Tally("json_web_signature")
    for group in tally.groups { tally.note(group, keys: [try #require(group["public"] ?? group["private"])]) }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == 41)
    #expect(tally.unsupported == ["RSA": 318, "oct": 40, "alg ES521, which no registry has": 2])
    #expect(tally.total == 401)
  }

  @Test func verifiesWithKeySets() throws {
    var tally = try Tally("json_web_key")
    for group in tally.groups {
      tally.note(group, keys: (group["public"] ?? group["private"])?["keys"]?.array ?? [])
    }
    tally.report()
    #expect(tally.wrong == [])
    #expect(tally.passed == 6)
    #expect(tally.total == 26)
  }

  /// The test that counts as unsupported for its key's `alg` is otherwise valid.
  @Test func verifiesFigure27WithAKeyOfAnyAlgorithm() throws {
    let groups = try Tally("json_web_signature").groups.filter { Tally.isMisspelt($0["public"] ?? .null) }
    #expect(groups.count == 2)
    for group in groups {
      let key = try JSONWebKey(parsing: replacing("alg", by: nil, in: group["public"] ?? .null))
      let text = group["tests"]?.array?.first?["jws"]?.string ?? ""
      #expect(try CompactJWS(parsing: text.utf8).verify(with: key.key) == .valid)
    }
  }

  struct Tally {
    let name: String
    let groups: [JSON]
    var passed = 0
    var unsupported: [String: Int] = [:]
    var wrong: [Int64] = []

    init(_ name: String) throws {
      self.name = name
      groups = try JSON(parsing: PublishedVectors.bytes("wycheproof/\(name)_test.json"))["testGroups"]?.array ?? []
    }

    var total: Int { passed + wrong.count + unsupported.values.reduce(0, +) }

    mutating func note(_ group: JSON, keys: [JSON]) {
      for test in group["tests"]?.array ?? [] {
        guard let number = test["tcId"]?.integer, let text = test["jws"]?.string else { continue }
        let isValid = accepts(text, keys)
        if let type = unsupportedType(keys) {
          // Unsupported tests must not pass either.
          if isValid { wrong.append(number) } else { unsupported[type, default: 0] += 1 }
        } else if isValid == (test["result"]?.string == "valid") {
          passed += 1
        } else {
          wrong.append(number)
        }
      }
    }

    func report() {
      let others = unsupported.sorted { $0.key < $1.key }.map { "\($0.value) unsupported (\($0.key))" }
      print(([name + ": \(passed) passed"] + others + ["\(wrong.count) wrong"]).joined(separator: ", "))
    }

    /// With the one key that the header's `kid` means.
    private func accepts(_ text: String, _ keys: [JSON]) -> Bool {
      guard let jws = try? CompactJWS(parsing: text.utf8), let algorithm = jws.header.algorithm else { return false }
      let usable = keys.compactMap { try? JSONWebKey(parsing: $0) }.filter { $0.keyID == jws.header.keyID }
      guard usable.count == 1, usable[0].mayVerify(algorithm) else { return false }
      return jws.verify(with: usable[0].key) == .valid
    }

    private func unsupportedType(_ keys: [JSON]) -> String? {
      let types = Set(keys.map { $0["crv"] != nil ? "EC" : $0["kty"]?.string ?? "" })
      if let type = types.sorted().first(where: { $0 != "EC" }) { return type }
      return keys.contains(where: Self.isMisspelt) ? "alg ES521, which no registry has" : nil
    }

    /// RFC 7520's key for ES512 as Wycheproof has it.
    static func isMisspelt(_ key: JSON) -> Bool { key["alg"] == "ES521" && key["crv"] == "P-521" }
  }
}
