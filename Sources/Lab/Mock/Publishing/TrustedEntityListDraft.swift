import Base
import Cryptography

/// A list of trusted entities that is still to be made (ETSI TS 119 602, 6), right or wrong in any member.
struct TrustedEntityListDraft: Sendable {
  struct Service: Sendable {
    /// ServiceInformation.
    var information: [JSON.Member]
    /// ServiceDigitalIdentity. It is written inside ServiceInformation.
    var identity: [JSON.Member]

    init(_ type: String, certificates: [[UInt8]]) {
      information = [
        .init("ServiceTypeIdentifier", .string(type)), .init("ServiceName", texts("mdoc Mock service")),
      ]
      identity = [.init("X509Certificates", .array(certificates.map { ["val": .string(Base64.encode($0))] }))]
    }

    fileprivate var json: JSON {
      ["ServiceInformation": .object(information + [.init("ServiceDigitalIdentity", .object(identity))])]
    }
  }

  struct Entity: Sendable {
    /// TrustedEntityInformation.
    var information: [JSON.Member] = [
      .init("TEName", texts("mdoc Mock Issuing Authority")),
      .init(
        "TEAddress",
        [
          "TEPostalAddress": [
            [
              "lang": "en", "StreetAddress": "1 Example Street", "Locality": "Example", "PostalCode": "0000",
              "Country": .string(SchemeOperator.territory),
            ]
          ], "TEElectronicAddress": [["lang": "en", "uriValue": "mailto:authority@mock.example"]],
        ]),
      .init("TEInformationURI", [["lang": "en", "uriValue": "https://authority.mock.example/"]]),
    ]
    var services: [Service]
    /// Members that the entity has besides its two, or in their place. Null removes a member.
    var changed: [JSON.Member] = []

    fileprivate var json: JSON {
      var members: [JSON.Member] = [
        .init("TrustedEntityInformation", .object(information)),
        .init("TrustedEntityServices", .array(services.map(\.json))),
      ]
      for member in changed { members.set(member.name, to: member.value.isNull ? nil : member.value) }
      return .object(members)
    }
  }

  let authority: MockAuthority
  let now: Timestamp
  var signer: MockSigner
  /// ListAndSchemeInformation.
  var scheme: [JSON.Member]
  var entities: [Entity]
  var isWrapped = true
  /// Changes the JWS before it is signed. Its header has `x5c` and `alg` already.
  var changeJWS: MockChange<CompactJWSDraft> = { _ in }
  /// Changes the finished bytes.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// A right list. It changes once a day of `now`. Its one entity, the mock authority, issues documents and signs
  /// status lists.
  init(authority: MockAuthority, at now: Timestamp) throws {
    self.authority = authority
    self.now = now
    signer = try MockSigner(.trustedEntityLists, authority: authority, under: authority.schemeOperator(), at: now)
    let issued = Timestamp(date: now.date)
    scheme = [
      .init("LoTEVersionIdentifier", 1), .init("LoTESequenceNumber", .integer(Int64(now.date.daysSince1970))),
      .init("LoTEType", "http://uri.etsi.org/19602/LoTEType/mDLProvidersList"),
      .init("SchemeOperatorName", texts(SchemeOperator.name)), .init("SchemeName", texts("EU:mdoc Mock list")),
      .init("SchemeTerritory", .string(SchemeOperator.territory)), .init("ListIssueDateTime", time(issued)),
      .init("NextUpdate", time(issued + 30 * Seconds.day)),
    ]
    let root = try authority.goodRoot(at: now)
    entities = [
      Entity(services: [
        Service(MockTrustedEntityList.issuanceService, certificates: [root]),
        Service(MockTrustedEntityList.revocationService, certificates: [root]),
      ])
    ]
  }

  func published() throws -> [UInt8] {
    let list: JSON = [
      "ListAndSchemeInformation": .object(scheme), "TrustedEntitiesList": .array(entities.map(\.json)),
    ]
    let payload = (isWrapped ? ["LoTE": list] : list).serialized()
    let certificate = try signer.chain()[0]
    var jws = CompactJWSDraft(
      header: [
        .init("alg", .string(CompactJWSDraft.algorithm(for: signer.key.curve))),
        .init("iat", .integer(Timestamp(date: now.date).secondsSince1970)),
        .init("x5t#S256", .string(Base64.encodeURLSafe(HashAlgorithm.sha256.hash(certificate)))),
        .init("x5c", [.string(Base64.encode(certificate))]),
      ], payload: payload)
    try changeJWS(&jws)
    return finish(try jws.signed(by: signer.key))
  }
}

/// A text in one language.
func texts(_ value: String, language: String = "en") -> JSON {
  [["lang": .string(language), "value": .string(value)]]
}

func time(_ time: Timestamp) -> JSON { .string(time.description) }

// Lists that are wrong in the signer, in the signature, in the scheme's information, or in the entries.

extension MockTrustedEntityList {
  static let signers: [MockTrustedEntityList] = [
    .init(
      "lote-look-alike", "The signer's root has the right name and another key.", cases: "V01", .listSignerUntrusted
    ) {
      let root = try $0.authority.schemeOperator(key: "look-alike")
      $0.signer = try MockSigner(.trustedEntityLists, authority: $0.authority, under: root, at: $0.now)
    },
    .init("lote-self-signed", "The signer has certified itself.", cases: "V01", .listSignerUntrusted) {
      $0.signer.certificate.issuer = $0.signer.certificate.subject
      $0.signer.issuerKey = $0.signer.key
    },
    .init("lote-signer-expired", "The signer's certificate expired a second ago.", .listSignerUntrusted) {
      $0.signer.certificate.notAfter = $0.now - 1
    },
    profile("lote-signer-usage", "The signer's key may sign certificates alone.") {
      $0.signer.certificate[oid: CertificateExtension.keyUsageOID] = .keyUsage(.keyCertSign)
    },
    profile("lote-signer-purpose", "The signer is certified as a TLS server.") {
      $0.signer.certificate[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(["1.3.6.1.5.5.7.3.1"])
    },
    profile("lote-territory", "The signer is of another country than the scheme.") {
      $0.signer.certificate.subject.set(CertificateName.country, to: DER.printableString("US"))
    },
    profile("lote-operator", "The signer is of another organization than the operator.") {
      $0.signer.certificate.subject.set(CertificateName.organization, to: DER.utf8String("mdoc Mock Somebody"))
    },
    profile("lote-no-organization", "The signer is of no organization.") {
      $0.signer.certificate.subject.set(CertificateName.organization, to: nil)
    },
  ]

  static let signatures: [MockTrustedEntityList] = [
    algorithm("lote-alg-none", "The header says that there is no signature, and there is none.") {
      $0.changeJWS = {
        $0["alg"] = "none"
        $0.signature = .absent
      }
    },
    algorithm("lote-alg-hmac", "It is authenticated with the signer's public key as a secret.") {
      let key = $0.signer.key.publicKey.encoded
      $0.changeJWS = {
        $0["alg"] = "HS256"
        $0.signature = .mac(key: key)
      }
    },
    algorithm("lote-alg-rsa", "The header names an algorithm of RSA keys.") { $0.changeJWS = { $0["alg"] = "PS256" } },
    algorithm("lote-alg-mismatch", "The header names an algorithm of another curve than the key's.") {
      let isP384 = $0.signer.key.curve == .p384
      $0.changeJWS = { $0["alg"] = isP384 ? "ES256" : "ES384" }
    },
    signature("lote-bad-signature", "The signature is over something else.") {
      $0.changeJWS = { $0.signature = .damaged }
    },
    signature("lote-no-signature", "The signature is empty.") { $0.changeJWS = { $0.signature = .absent } },
    signature("lote-other-key", "Another key than the certificate's has signed.") {
      $0.signer.key = try $0.authority.seed.key("scheme operator/other", on: $0.authority.issuerCurve)
    },
    signature("lote-other-thumbprint", "The header names another certificate as the signer's.") {
      $0.changeJWS = { $0["x5t#S256"] = .string(Base64.encodeURLSafe(HashAlgorithm.sha256.hash([UInt8]()))) }
    },
  ]

  static let scheme: [MockTrustedEntityList] = [
    .init("lote-issued-in-future", "It is dated tomorrow.", .listIssuedInFuture) {
      $0.scheme.set("ListIssueDateTime", to: time($0.now + Seconds.day))
    },
    .init("lote-signed-in-future", "It was signed tomorrow.", .listIssuedInFuture) {
      let tomorrow = $0.now + Seconds.day
      $0.changeJWS = { $0["iat"] = .integer(tomorrow.secondsSince1970) }
    },
    .init("lote-expired", "Its next update was due a second ago.", cases: "V03", .listExpired) {
      $0.scheme.set("NextUpdate", to: time($0.now - 1))
    },
    .init("lote-closed", "It is closed: there will be no next list.", cases: "V03", .listExpired) {
      $0.scheme.set("NextUpdate", to: .null)
    },
    .init("lote-older-number", "Its number is lower than the good list's.", cases: "V02", .listRollback) {
      $0.scheme.set("LoTESequenceNumber", to: .integer(Int64($0.now.date.daysSince1970 - 1)))
    },
    .init("lote-older-date", "Its date is before the good list's.", cases: "V02", .listRollback) {
      $0.scheme.set("ListIssueDateTime", to: time(Timestamp(date: $0.now.date) - 1))
    },
  ]

  static let entries: [MockTrustedEntityList] = [
    .init("lote-bad-entity", "An entity has no list of services.", warnings: [.listEntryMalformed]) {
      var broken = $0.entities[0]
      broken.changed = [.init("TrustedEntityServices", .null)]
      $0.entities.insert(broken, at: 0)
    },
    .init("lote-bad-service", "A service has a number as its status.", warnings: [.listEntryMalformed]) {
      var broken = $0.entities[0].services[0]
      broken.information.set("ServiceStatus", to: 1)
      $0.entities[0].services.insert(broken, at: 0)
    },
    .init("lote-bad-certificate", "A certificate has a byte after its end.", warnings: [.listEntryMalformed]) {
      let root = try $0.authority.goodRoot(at: $0.now)
      $0.entities[0].services.insert(.init(issuanceService, certificates: [root + [0]]), at: 0)
    },
    .init(
      "lote-other-key-identifier", "A service names another key identifier than its certificate has.",
      warnings: [.listEntryMismatch], hasAnchors: false
    ) {
      let identifier = Base64.encode([UInt8](repeating: 0x55, count: 20))
      $0.entities[0].services[0].identity.append(.init("X509SKIs", [.string(identifier)]))
    },
    .init(
      "lote-withdrawn", "The issuing service is withdrawn.", warnings: [.listEntryNotGranted], hasAnchors: false
    ) {
      $0.entities[0].services[0].information.set(
        "ServiceStatus", to: "http://uri.etsi.org/19602/SvcStatus/withdrawn")
    },
    .init(
      "lote-granted-later", "The issuing service is granted from tomorrow on.", warnings: [.listEntryNotGranted],
      hasAnchors: false
    ) {
      $0.entities[0].services[0].information += [
        .init("ServiceStatus", "http://uri.etsi.org/19602/SvcStatus/granted"),
        .init("StatusStartingTime", time($0.now + Seconds.day)),
      ]
    },
    .init("lote-other-service", "The certificates are those of another kind of service.", hasAnchors: false) {
      $0.entities[0].services[0].information.set(
        "ServiceTypeIdentifier", to: "http://uri.etsi.org/19602/SvcType/WRPAC/Issuance")
    },
    .init("lote-no-service-type", "The services do not say of what type they are.", hasAnchors: false) {
      $0.entities[0].services[0].information.set("ServiceTypeIdentifier", to: nil)
    },
    .init("lote-empty", "Nobody stands on the list.", hasAnchors: false) { $0.entities = [] },
  ]

  private static func profile(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, cases: "V01", .listSignerProfile, change)
  }

  private static func algorithm(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, cases: "V01", .listAlgorithmUnsupported, change)
  }

  private static func signature(
    _ name: String, _ summary: String, _ change: @escaping MockChange<TrustedEntityListDraft>
  ) -> MockTrustedEntityList {
    .init(name, summary, cases: "V01", .listSignatureInvalid, change)
  }
}
