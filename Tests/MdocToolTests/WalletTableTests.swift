import Base
import Mdoc
import Mock
import Testing

@testable import MdocTool

/// Every shape of request, over every set of six elements, against models of the wallets' code.
@Suite struct WalletTableTests {
  private typealias Held = WalletModel.Held
  private static let wallets = WalletModel.all.filter(\.readsDeviceRequests)

  /// The cases in which a wallet returns less than it could, with the reasons.
  private static let exceptions: [String: [String: String]] = [
    // It uses version 1.0, where half of the sets lack the one element that replaces all others.
    "six optional elements": ["Multipaz (picker on Android)": "32 of 63", "walt.id": "32 of 63"],
    // EUDI's wallets ignore alternatives, and respond with every available document, even incomplete ones.
    "two elements and two optional ones, one of each with an alternative": [
      "EUDI (Android)": "12 of 24", "EUDI (iOS)": "12 of 24",
    ],
    "any one of two documents, each of two elements and an optional one": [
      "EUDI (Android)": "8 of 28", "EUDI (iOS)": "8 of 28",
    ],
  ]

  @Test(arguments: WalletTable.shapes.map(\.label))
  func `whoever has enough is answered with all that there is`(label: String) throws {
    let shape = try #require(WalletTable.shapes.first { $0.label == label })
    for wallet in Self.wallets {
      for (name, request) in [("unsigned", shape.unsigned), ("signed", shape.signed)] {
        let text = WalletTable.Outcome(shape, request, wallet).text
        // By version 1.0, and in EUDI's wallets always, one element is enough.
        let isPartial =
          label.hasPrefix("six elements") && wallet.name == "Multipaz (library)" && name == "unsigned"
          || wallet.name.hasPrefix("EUDI")
            && shape.request.documents.contains {
              $0.elements.count(where: \.isRequired) > 0 && $0.namedElements.count > 1
            }
        let expected = (Self.exceptions[label]?[wallet.name] ?? "all") + (isPartial ? ", and in part" : "")
        #expect(text == expected, "\(wallet.name), \(name)")
      }
    }
    #expect(WalletTable.Outcome(shape, shape.query, WalletModel.all[0]).text == "all")
  }

  /// Multipaz's library supports both protocols, so both must give the same elements.
  @Test func `both protocols bring the same`() throws {
    let wallet = WalletModel.all[0]
    for shape in WalletTable.shapes {
      #expect(shape.holdings.count == 1 << Set(shape.request.documents.flatMap(Self.names)).count)
      for held in shape.holdings where !shape.acceptable(of: held).isEmpty {
        let query = try wallet.answer(shape.query, holding: held)
        #expect(query == (try wallet.answer(shape.unsigned, holding: held)), "\(shape.label): \(held)")
        #expect(query == (try wallet.answer(shape.signed, holding: held)), "\(shape.label): \(held)")
      }
    }
  }

  private static func names(_ document: DocumentRequest) -> [String] {
    document.namedElements.flatMap { [$0.element] + $0.alternatives }.map { "\(document.docType) \($0.identifier)" }
  }

  /// OpenID4VP 1.0 has no proofs, and a wallet may refuse a query with an unknown format.
  @Test func `a query that offers a proof is refused by who knows none`() throws {
    let shape = try #require(WalletTable.shapes.last)
    let held = [DocType.mDL: Set([[Namespace.mDL, "age_over_18"]])]
    for wallet in WalletModel.all where wallet.proofs != nil {
      let answer = try wallet.answer(shape.query, holding: held)
      #expect(answer == (wallet.proofs == .refused ? [:] : held))
    }
    #expect(WalletModel.all.contains { $0.proofs == .refused } && WalletModel.all.contains { $0.proofs == .answered })
  }

  @Test func `what is no request is refused, and a use case without its documents is not answered`() throws {
    let wallet = try #require(Self.wallets.last)
    #expect(throws: MockError.self) { try wallet.answer(.device([0xa0]), holding: [:]) }
    #expect(throws: MockError.self) { try wallet.answer(.dcql([:]), holding: [:]) }
    for wallet in Self.wallets {
      #expect(try wallet.answer(WalletTable.shapes[0].signed, holding: [:]) == [:])
    }
  }
}
