import Base

/// A model of a published wallet's responses, derived from its code or from runs. All models share one algorithm. Each
/// model has a row with its differences.
package struct WalletModel: Sendable {
  /// The rules for a DeviceRequest of one version.
  struct Reading: Sendable {
    /// `takesFirst`: the wallet fulfils only the first document request. `takesAll`: the wallet fulfils all requests or
    /// none.
    var takesFirst = false, takesAll = false
    /// Whether the wallet returns a document only if it is complete. If false, one element is enough, and substitutes
    /// are ignored.
    var needsAll = true
    /// Whether the wallet follows use cases, if the request has any.
    var readsUseCases = true
  }

  /// The reaction to an OpenID4VP query that offers `mso_mdoc_zk` beside `mso_mdoc`.
  package enum Proofs: String, Sendable { case answered, refused, untried = "not tried" }

  package let name: String
  /// The rules for version 1.0 of a DeviceRequest, and for later versions; nil if the code was not read.
  private var first, later: Reading?
  /// The reaction to proofs; nil if OpenID4VP was not tried. Otherwise the wallet follows OpenID4VP 1.0, 6.4.
  package let proofs: Proofs?

  package var readsDeviceRequests: Bool { first != nil }

  private init(_ name: String, _ first: Reading? = nil, later: Reading? = nil, proofs: Proofs? = nil) {
    (self.name, self.first, self.later, self.proofs) = (name, first, later ?? first, proofs)
  }

  /// The published wallets, as they were in November 2026.
  package static let all: [WalletModel] = [
    WalletModel(
      "Multipaz (library)", Reading(takesFirst: true, needsAll: false, readsUseCases: false),
      later: Reading(takesFirst: true), proofs: .answered),
    WalletModel("Multipaz (picker on Android)", Reading(takesAll: true)),
    WalletModel("walt.id", Reading()),
    WalletModel("EUDI (Android)", Reading(needsAll: false, readsUseCases: false), proofs: .refused),
    WalletModel("EUDI (iOS)", Reading(needsAll: false, readsUseCases: false)),
    WalletModel("Credo", proofs: .untried), WalletModel("isomdl"), WalletModel("Apple Wallet"),
    WalletModel("Google Wallet"),
  ]

  /// The elements that a person has for each document type, as `[namespace, identifier]`.
  package typealias Held = [String: Set<[String]>]

  /// A DeviceRequest, or `dcql_query`.
  package enum Request: Sendable { case device([UInt8]), dcql(JSON) }

  /// The documents of the response; none if there is no response.
  ///
  /// - Throws: `MockError` if the request cannot be read.
  package func answer(_ request: Request, holding held: Held) throws -> Held {
    switch request {
    case .device(let bytes):
      let asked = try RequestedDocuments(deviceRequest: Base64.encodeURLSafe(bytes))
      return (asked.version == "1.0" ? first : later).map { Self.answer(asked, by: $0, holding: held) } ?? [:]
    case .dcql(let query):
      let asked = try RequestedDocuments(dcql: query)
      let isRefused = proofs == .refused && asked.queries.contains(where: \.document.requiresProof)
      return isRefused ? [:] : Self.answer(asked, by: Reading(takesAll: true), holding: held)
    }
  }

  private static func answer(_ asked: RequestedDocuments, by reading: Reading, holding held: Held) -> Held {
    let answers = asked.queries.map { query -> Set<[String]> in
      let document = query.document
      let isThere = { (element: MockRequest.Document.Element) in
        held[document.docType]?.contains([element.namespace, element.identifier]) ?? false
      }
      let elements = reading.needsAll ? document.satisfied(by: isThere) : document.elements.filter(isThere)
      return Set((elements ?? []).map { [$0.namespace, $0.identifier] })
    }
    let able = answers.indices.filter { !answers[$0].isEmpty }
    let chosen =
      reading.readsUseCases && asked.namesSets
      ? asked.alternatives.first { $0.allSatisfy(able.contains) } ?? []
      : reading.takesAll && able.count < answers.count ? [] : able.filter { $0 == 0 || !reading.takesFirst }
    return Held(chosen.map { (asked.queries[$0].document.docType, answers[$0]) }) { $0.union($1) }
  }
}
