import Base
import Cryptography

/// A list of trusted entities to be made (ETSI TS 119 602, 6), right or wrong in any member.
struct TrustedEntityListDraft: Sendable {
  struct Service: Sendable {
    /// ServiceInformation.
    var information: [JSON.Member]
    /// ServiceDigitalIdentity, which is put into it.
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
    var information: [JSON.Member] = [.init("TEName", texts("mdoc Mock Issuing Authority"))]
    var services: [Service]
    /// What the entity has beside its two members, or in their place.
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
  /// Changes the JWS before it is signed; `x5c` and `alg` are in its header.
  var changeJWS: MockChange<CompactJWSDraft> = { _ in }
  /// Takes the finished bytes.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// A list as it should be, which changes once a day: the mock authority's root issues, and signs status lists.
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
