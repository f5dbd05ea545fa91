import Base
import Cryptography

/// A list of trusted entities as the mock operator publishes it, by name: right, or wrong in one respect.
package struct MockTrustedEntityList: MockCatalogued {
  /// Its code is why a verifier refuses the list after it accepted the good one of the same time.
  package let declaration: MockDeclaration
  /// Whether the list makes any anchor trusted, if it is accepted.
  package let hasAnchors: Bool
  let change: MockChange<TrustedEntityListDraft>

  /// The type of services that issue documents, here of the mock authority's types.
  package static let issuanceService = "http://uri.etsi.org/19602/SvcType/mDL/Issuance"
  /// The type of services that sign status lists.
  package static let revocationService = "http://uri.etsi.org/19602/SvcType/mDL/Revocation"
  /// The document types for which a verifier in test mode trusts the issuing services.
  package static let docTypes = [MockDocType.mDL, MockDocType.photoID]

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, warnings: [Code] = [],
    hasAnchors: Bool = true, _ change: @escaping MockChange<TrustedEntityListDraft> = { _ in }
  ) {
    declaration = MockDeclaration(name, summary, cases: cases, code: code, warnings: warnings)
    self.hasAnchors = hasAnchors
    self.change = change
  }

  /// The bytes, which are served as `application/jose`. They change once a day of `now`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    var draft = try TrustedEntityListDraft(authority: authority, at: now)
    try change(&draft)
    return try draft.published()
  }

  /// DER of the root that a verifier configures for the list's signer.
  package static func signerRoot(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try authority.rootCertificate(of: authority.schemeOperator(), at: now)
  }

  /// What a verifier remembers of the good list after it accepted it: its date of issue, and its number.
  package static func remembered(at now: Timestamp) -> (issued: Timestamp, number: Int64) {
    (Timestamp(date: now.date), Int64(now.date.daysSince1970))
  }
}

extension MockTrustedEntityList {
  package static let good = MockTrustedEntityList("lote", "Nothing is wrong.")

  package static let all: [MockTrustedEntityList] = [good] + controls + form + signers + signatures + scheme + entries

  private static let controls: [MockTrustedEntityList] = [
    .init("lote-direct-trust", "It lists the document signer itself, and no authority.") {
      let signer = try MockSigner(
        authority: $0.authority, under: $0.authority.certificateIssuer(.good), at: $0.now)
      $0.entities[0].services[0] = .init(issuanceService, certificates: [try signer.chain()[0]])
    },
    .init("lote-sigt", "It states its signing time by `sigT`, as lists did until 2025.") {
      let signed = Timestamp(date: $0.now.date)
      $0.changeJWS = {
        $0["iat"] = nil
        $0["sigT"] = time(signed)
        $0["crit"] = ["sigT"]
      }
    },
    .init("lote-granted", "Its services are granted, with a date.") {
      $0.entities[0].services[0].information += [
        .init("ServiceStatus", "http://uri.etsi.org/19602/SvcStatus/granted"),
        .init("StatusStartingTime", time($0.now - Seconds.day)),
      ]
    },
    .init("lote-extension", "It has an extension that is not critical.") {
      $0.scheme.set("SchemeExtensions", to: [["Critical": false, "Unknown": 1]])
    },
    deviating("lote-unwrapped", "The list stands without the member LoTE around it.") { $0.isWrapped = false },
    deviating("lote-fraction", "A date has a fraction of a second.") {
      let text = Timestamp(date: $0.now.date).description
      $0.scheme.set("ListIssueDateTime", to: .string(text.dropLast() + ".123456Z"))
    },
    deviating("lote-language", "A language is written with its country.") {
      $0.scheme.set("SchemeName", to: texts("EU:mdoc Mock list", language: "de-DE"))
      $0.entities[0].information.set("TEName", to: texts("mdoc Mock Issuing Authority", language: "de-DE"))
    },
    deviating("lote-no-signing-time", "It states no signing time.") { $0.changeJWS = { $0["iat"] = nil } },
    deviating("lote-long", "It is in force for more than six months.") {
      $0.scheme.set("NextUpdate", to: time(Timestamp(date: $0.now.date) + 190 * Seconds.day))
    },
  ]

  private static let form: [MockTrustedEntityList] = [
    .init("lote-too-large", "It is larger than any verifier here takes.", .listTooLarge) {
      $0.changeJWS = { $0.payload += [UInt8](repeating: UInt8(ascii: " "), count: Limits.listBytes) }
    },
    malformed("lote-unsigned-json", "It is the payload, without a signature around it.") {
      let payload = JSON.object($0.scheme).serialized()
      $0.finish = { _ in payload }
    },
    malformed("lote-padded", "Its signature has base64's padding.") { $0.finish = { $0 + Array("==".utf8) } },
    malformed("lote-alg-twice", "The header names two algorithms.") {
      $0.changeJWS = { $0.header.append(.init("alg", "none")) }
    },
    malformed("lote-no-chain", "The header has no certificate.") { $0.changeJWS = { $0["x5c"] = nil } },
    malformed("lote-member-twice", "The payload has a member twice.") {
      $0.scheme.append(.init("LoTESequenceNumber", 1))
    },
    malformed("lote-no-sequence-number", "It has no sequence number.") { $0.scheme.set("LoTESequenceNumber", to: nil) },
    malformed("lote-no-operator", "It names no operator.") { $0.scheme.set("SchemeOperatorName", to: nil) },
    malformed("lote-no-next-update", "It does not say whether there is a next list.") {
      $0.scheme.set("NextUpdate", to: nil)
    },
    malformed("lote-bad-date", "Its date is no time.") { $0.scheme.set("ListIssueDateTime", to: "2026-13-01") },
    .init("lote-version-2", "It is of version 2.", .listVersionUnsupported) {
      $0.scheme.set("LoTEVersionIdentifier", to: 2)
    },
    critical("lote-unknown-crit", "The header marks a parameter critical that nobody knows.") {
      $0.changeJWS = {
        $0["https://mdoc-mock.invalid/"] = 1
        $0["crit"] = ["https://mdoc-mock.invalid/"]
      }
    },
    critical("lote-unencoded", "The payload is said not to be encoded.") {
      $0.changeJWS = {
        $0["b64"] = false
        $0["crit"] = ["b64"]
      }
    },
    critical("lote-critical-extension", "The scheme has a critical extension that nobody knows.") {
      $0.scheme.set("SchemeExtensions", to: [["Critical": true, "Unknown": 1]])
    },
    critical("lote-critical-entity-extension", "An entity has a critical extension that nobody knows.") {
      $0.entities[0].information.set("TEInformationExtensions", to: [["Critical": true, "Unknown": 1]])
    },
    critical("lote-critical-service-extension", "A service has a critical extension that nobody knows.") {
      $0.entities[0].services[1].information.set(
        "ServiceInformationExtensions", to: [["Critical": "true", "Unknown": 1]])
    },
  ]

  private static func deviating(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, warnings: [.listDeviation], change)
  }

  private static func malformed(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, .listMalformed, change)
  }

  private static func critical(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, .listCriticalExtension, change)
  }
}
