import Base
import CBOR
import Cryptography
import PKIX
import Trust

@testable import Mdoc
@testable import Mock

/// The mock authority's lists at one address, and the reader's findings about them.
struct StatusFixture {
  static let uri = "https://status.mdoc-mock.invalid/1"

  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority
  let anchor: Certificate

  init(curve: Curve = .p256) throws {
    authority = try MockAuthority(seed: Array("status tests".utf8), issuerCurve: curve)
    anchor = try Certificate(der: authority.goodRoot(at: now))
  }

  /// The document's declaration, and the list's finding about it.
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
    do throws(RevocationListError) {
      return try read(bytes, reference, allowsJWT: allowsJWT).finding(for: reference, at: now)
    } catch {
      return error.finding
    }
  }

  func read(
    _ bytes: [UInt8], _ reference: StatusReference = .mock(), at time: Timestamp? = nil, allowsJWT: Bool = false
  ) throws(RevocationListError) -> VerifiedList {
    try StatusListVerifier().read(
      bytes, from: StatusListSource(reference, anchor: anchor, allowsJWT: allowsJWT), at: time ?? now)
  }

  func finding(_ list: MockList) throws -> RevocationFinding {
    try finding(
      list.status(by: authority, at: Self.uri, now: now), list.published(by: authority, at: Self.uri, now: now),
      allowsJWT: list.isJWT)
  }

  /// A status list that differs in one respect, for the document with the mock index.
  func published(
    _ stage: EditStage<ListDraft> = Stages.list,
    _ change: @escaping @Sendable (inout ListDraft) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    try MockList(.status, stage, change).published(by: authority, at: Self.uri, now: now)
  }

  struct Surprise: Error { let text: String }
}

extension StatusReference {
  static func mock(_ index: Int = MockList.statusIndex, uri: String = StatusFixture.uri) -> StatusReference {
    StatusReference(.statusList(index: UInt64(index)), uri: uri)
  }
}

extension RevocationFinding {
  var detail: String? {
    switch self {
    case .good: nil
    case .revoked(_, let detail), .undetermined(_, let detail): detail
    }
  }
}

extension MockList {
  /// A list that differs from the good one by a change to one stage, or by edits.
  init(
    _ kind: Kind, _ stage: EditStage<ListDraft> = Stages.list,
    _ change: @escaping @Sendable (inout ListDraft) throws -> Void
  ) {
    self.init(MockDeclaration("test", "A test."), kind, MockMutation(stage, change))
  }

  init(_ kind: Kind, edits: String) throws {
    var parser = EditParser(edits)
    self.init(MockDeclaration("test", "A test."), kind, try parser.mutation())
  }
}
