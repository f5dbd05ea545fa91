import Base
import CBOR
import Cryptography

/// A named list of the mock authority, either correct or wrong in one respect. It is a row of `Lists.txt`.
package struct MockList: MockDeclared {
  package enum Kind: String, Sendable, CaseIterable {
    case vical
    case trustedEntities = "trusted-entities"
    case crl, status, identifiers

    /// The kinds of lists of trust anchors.
    package static let ofAnchors: [Kind] = [.vical, .trustedEntities]

    package var mediaType: String { properties.mediaType }
    var signerRole: MockSigner.Role { properties.signerRole }

    private var properties: (mediaType: String, signerRole: MockSigner.Role) {
      switch self {
      case .vical: ("application/cwt", .vicals)
      case .trustedEntities: ("application/jose", .trustedEntityLists)
      case .crl: ("application/pkix-crl", .documents)
      case .status: ("application/statuslist+cwt", .statusLists)
      case .identifiers: ("application/identifierlist+cwt", .statusLists)
      }
    }

    /// The verifier's trust anchor for the list's signer, DER.
    package func signerAnchor(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
      try authority.rootCertificate(of: signerIssuer(authority), at: now)
    }

    func signerIssuer(_ authority: MockAuthority) throws -> CertificateIssuer {
      switch self {
      case .vical: try authority.vicalProvider()
      case .trustedEntities: try authority.schemeOperator()
      case .crl, .status, .identifiers: try authority.certificateIssuer(.good)
      }
    }

    /// The authority's address for this kind of list.
    func address(_ authority: MockAuthority) -> String {
      switch self {
      case .vical, .trustedEntities, .crl: authority.addresses.crl
      case .status: authority.addresses.statusList
      case .identifiers: authority.addresses.identifierList
      }
    }
  }

  package let kind: Kind
  /// The declared code is the rejection of the list, or the finding about a document or signer that refers to the list.
  /// A correct list has no code.
  package let declaration: MockDeclaration
  /// The code that rejects the good authority's licence if this is the only trusted list of anchors; nil if the licence
  /// is accepted.
  package private(set) var documentCode: Code?
  /// True if the code occurs only after the verifier has accepted the good list of the same time.
  package private(set) var followsGood = false
  /// True for a JSON Web Token, which only some policies accept.
  package var isJWT = false
  let mutation: MockMutation

  init(_ declaration: MockDeclaration, _ kind: Kind, _ mutation: MockMutation) {
    self.declaration = declaration
    self.kind = kind
    self.mutation = mutation
  }

  /// The path of a list of anchors below the publisher's base address.
  package var anchorPath: String { "anchors/\(name)" }

  package var mediaType: String { isJWT ? "application/statuslist+jwt" : kind.mediaType }

  /// The list's bytes. They change once a day as `now` advances, except in variants with times to the second.
  ///
  /// - Parameters:
  ///   - issuer: the name of a CRL's issuer (`MockAuthority.listIssuer`); nil for the good authority.
  ///   - address: the list's address; nil for the authority's own address.
  package func published(
    by authority: MockAuthority, for issuer: String? = nil, at address: String? = nil, now: Timestamp
  ) throws -> [UInt8] {
    var draft = try ListDraft(
      kind, isJWT: isJWT, authority: authority, address: address, issuer: issuer.map(authority.listIssuer), at: now)
    try draft.make(mutation)
    return draft.bytes
  }

  /// `status` of a mobile security object, for a list at this address.
  package func status(by authority: MockAuthority, at address: String? = nil, now: Timestamp) throws -> CBORValue {
    var draft = try ListDraft(kind, isJWT: isJWT, authority: authority, address: address, at: now)
    try draft.prepare(mutation)
    return draft.status
  }

  /// A verifier's record after it accepts the good list: the date, the number, and SHA-256 of the payload.
  package static func remembered(
    _ kind: Kind, of authority: MockAuthority, at now: Timestamp
  ) throws -> (date: Timestamp, number: Int64, digest: [UInt8]) {
    let payload = try ListDraft(kind, authority: authority, at: now).content()
    return (Timestamp(date: now.date), Int64(now.date.daysSince1970), HashAlgorithm.sha256.hash(payload))
  }
}

extension MockList {
  /// The type of service that issues the mock authority's documents.
  package static let issuanceService = "http://uri.etsi.org/19602/SvcType/mDL/Issuance"
  /// The type of service that signs status lists.
  package static let revocationService = "http://uri.etsi.org/19602/SvcType/mDL/Revocation"
  /// The document types of the issuing services in test mode.
  package static let docTypes = [MockDocType.mDL, MockDocType.photoID]

  /// The document's index in a status list, and the number of entries.
  static let statusIndex = 412
  static let statuses = 1_024
  /// The document's identifier, which is on the identifier list if the document is revoked.
  static let identifier: [UInt8] = [0x6d, 0x64, 0x6f, 0x63, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]

  package static let all: [MockList] = Kind.allCases.flatMap { kind in rows.compactMap { MockList($0, kind) } }

  package static func all(_ kind: Kind) -> [MockList] { all.filter { $0.kind == kind } }
  package static func named(_ name: String) -> MockList? { all.first { $0.name == name } }

  /// The lists of trust anchors.
  package static let ofAnchors = all.filter { Kind.ofAnchors.contains($0.kind) }

  /// The first list of its kind, which is correct.
  package static func good(_ kind: Kind) -> MockList { all(kind)[0] }

  private static let rows = VariantTable.rows("Lists", PackageResources.Lists_txt)

  /// Nil for a row of another kind. A row of several kinds makes one list for each kind. Each list's name starts with
  /// its kind.
  private init?(_ row: VariantTable.Row, _ kind: Kind) {
    let kinds = row.options.compactMap(Kind.init)
    guard kinds.contains(kind) else { return nil }
    var declaration = row.declaration
    if kinds.count > 1 { declaration.name = "\(kind.rawValue)-\(declaration.name)" }
    self.init(declaration, kind, row.mutation)
    documentCode = row.options.first { $0.contains(".") }.map(Code.init(named:))
    followsGood = row.options.contains("after-good")
    isJWT = row.options.contains("jwt")
  }
}
