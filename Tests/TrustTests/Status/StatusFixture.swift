import Base
import CBOR
import Cryptography
import PKIX
import Trust

@testable import Mdoc
@testable import Mock

/// The mock authority's lists at one address, and the reader's answer to them.
struct StatusFixture {
  static let uri = "https://status.mdoc-mock.invalid/1"

  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority
  let anchor: Certificate

  init(curve: Curve = .p256) throws {
    authority = try MockAuthority(seed: Array("status tests".utf8), issuerCurve: curve)
    anchor = try Certificate(der: authority.goodRoot(at: now))
  }

  /// What the document declares, and what the list says about it.
  func finding(_ status: CBORValue, _ bytes: [UInt8], allowsJWT: Bool = false) throws -> RevocationFinding {
    let declared = try DeclaredStatus(parsing: CBORItem(parsing: status.encoded()))
    guard declared.declarations.count == 1, let declaration = declared.declarations.first else {
      throw Surprise(text: "\(declared.declarations)")
    }
    switch declaration {
    case .unusable(let uncertainty, let detail): return .undetermined(uncertainty, detail: detail)
    case .reference(let reference): return finding(reference, bytes, allowsJWT: allowsJWT)
    }
  }

  func finding(_ reference: StatusReference, _ bytes: [UInt8], allowsJWT: Bool = false) -> RevocationFinding {
    do throws(ListFault) {
      return try read(bytes, reference, allowsJWT: allowsJWT).finding(for: reference, at: now)
    } catch {
      return error.finding
    }
  }

  func read(
    _ bytes: [UInt8], _ reference: StatusReference = .mock(), at time: Timestamp? = nil, allowsJWT: Bool = false
  ) throws(ListFault) -> VerifiedList {
    try StatusListVerifier().read(
      bytes, from: StatusListSource(reference, anchor: anchor, allowsJWT: allowsJWT), at: time ?? now)
  }

  func finding(_ list: MockStatusList) throws -> RevocationFinding {
    try finding(
      list.status(by: authority, at: Self.uri, now: now), list.published(by: authority, at: Self.uri, now: now),
      allowsJWT: list.isJWT)
  }

  func finding(_ list: MockIdentifierList) throws -> RevocationFinding {
    try finding(
      list.status(by: authority, at: Self.uri, now: now), list.published(by: authority, at: Self.uri, now: now))
  }

  /// A status list that differs in one respect, for the document with the mock index.
  func published(_ change: @escaping @Sendable (inout ListTokenDraft) throws -> Void = { _ in }) throws -> [UInt8] {
    try MockStatusList("test", "A test.", nil, change).published(by: authority, at: Self.uri, now: now)
  }

  struct Surprise: Error { let text: String }
}

extension StatusReference {
  static func mock(_ index: Int = MockStatusList.index, uri: String = StatusFixture.uri) -> StatusReference {
    StatusReference(.statusList(index: UInt64(index)), uri: uri)
  }
}

extension RevocationFinding {
  /// The finding by its code; nil where it is good.
  var code: Code? {
    switch self {
    case .good: nil
    case .revoked(.documentRevoked, _): .documentRevoked
    case .revoked(.documentSuspended, _): .documentSuspended
    case .revoked(.signerRevoked, _): .signerRevoked
    case .revoked(.authorityRevoked, _): .authorityRevoked
    case .undetermined(let uncertainty, _):
      switch uncertainty {
      case .crlInvalid: .crlInvalid
      case .statusUnknown: .statusUnknown
      case .statusListInvalid: .statusListInvalid
      case .statusIndexOutOfRange: .statusIndexOutOfRange
      case .mechanismUnsupported: .revocationMechanismUnsupported
      case .sourceNotAllowed: .revocationSourceNotAllowed
      case .listTooLarge: .revocationListTooLarge
      case .unavailable: .revocationUnavailable
      }
    }
  }

  var detail: String? {
    switch self {
    case .good: nil
    case .revoked(_, let detail), .undetermined(_, let detail): detail
    }
  }
}
