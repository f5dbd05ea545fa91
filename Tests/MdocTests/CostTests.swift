import Base
import CBOR
import Mdoc
import Testing

@testable import Mock

/// Additions of a wallet to its own good document must not make verification slow.
@Suite struct CostTests {
  /// Thousands of items whose names differ in bytes but are canonically equivalent: a set that hashes characters would
  /// compare every pair.
  @Test func manyEquivalentNamesAreComparedOnce() throws {
    let attack = try Attack()
    let flood = MockMutation(Stages.disclosure) { draft in
      draft.namespaces[0].items += (0..<5_000).map { number in
        IssuedItem(digestID: UInt64(1_000 + number), random: [], identifier: name(number), value: 0, style: .shortest)
      }
    }
    let response = try attack.response(flood)
    #expect(response.count < Limits.responseBytes)
    var codes: [Code] = []
    let time = ContinuousClock().measure {
      codes = attack.verify(response, request: Attack.request).report.reasons.map(\.code)
    }
    #expect(codes == [.digestMissing])
    print("5,000 equivalent names: \(time)")
  }

  /// The issuer's signed bytes may be an attacker's, and are read before the issuer is trusted.
  @Test func manyAuthorisedNamespacesAndElementsAreComparedOnce() throws {
    let attack = try Attack()
    let names = (0..<4_000).map { "n\($0)" }
    let mutation = MockMutation(Stages.setup) { setup in
      setup.keyAuthorizations = ["nameSpaces": .array(names.map { .text($0) })]
      setup.deviceSigned = names.map { .init($0, [("e", 1)]) }
    }
    let response = try attack.response(mutation)
    let time = ContinuousClock().measure {
      #expect(attack.verify(response, request: nil).accepted != nil)
    }
    print("4,000 authorised namespaces: \(time)")
  }

  @Test func manyNamespacesAreFoundByName() throws {
    var attack = try Attack()
    for number in 0..<2_000 {
      attack.documents[0]["n\(number)", "e"] = "v"
      attack.mock.documents[0].elements.append(("n\(number)", "e"))
    }
    let response = try attack.response(.none)
    let time = ContinuousClock().measure {
      #expect(attack.verify(response, request: nil).accepted != nil)
    }
    print("2,000 namespaces: \(time)")
  }

  @Test func equivalentNamesHaveHashesOfTheirOwn() {
    let references = (0..<4_096).map { ElementReference("n", name($0)) }
    #expect(references[0].identifier == references[4_095].identifier, "equivalent, as Swift compares")
    #expect(Set(references).count == 4_096)
    #expect(Set(references.map(\.hashValue)).count > 4_000)
  }
}

/// The bits of a number as letters with an accent, in one scalar or in two.
private func name(_ number: Int) -> String {
  (0..<13).map { number >> $0 & 1 == 0 ? "\u{e9}" : "e\u{301}" }.joined()
}
