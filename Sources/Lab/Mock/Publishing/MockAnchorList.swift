import Base

/// A list of trust anchors as a publisher serves it, right or wrong in one respect: a VICAL, or a list of trusted
/// entities.
package struct MockAnchorList: MockDeclared {
  package enum Format: String, Sendable, CaseIterable {
    case vical
    case trustedEntities = "trusted-entities"

    /// The certificate that a verifier configures for the list's signer, DER.
    package func signerAnchor(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
      switch self {
      case .vical: try MockVICAL.signerAnchor(of: authority, at: now)
      case .trustedEntities: try MockTrustedEntityList.signerRoot(of: authority, at: now)
      }
    }
  }

  package let format: Format
  /// Its code is what a verifier that has accepted the good list refuses it for.
  package let declaration: MockDeclaration
  /// Whether the code is found only once the good list of the same time has been accepted.
  package let followsGood: Bool
  private let make: @Sendable (MockAuthority, Timestamp) throws -> [UInt8]

  package init(_ list: MockVICAL) {
    format = .vical
    declaration = list.declaration
    followsGood = list.followsGood
    make = list.published
  }

  package init(_ list: MockTrustedEntityList) {
    format = .trustedEntities
    declaration = list.declaration
    followsGood = list.code == .listRollback
    make = list.published
  }

  package static let all: [MockAnchorList] =
    MockVICAL.all.map { MockAnchorList($0) } + MockTrustedEntityList.all.map { MockAnchorList($0) }

  /// Under the publisher's base address.
  package var path: String { "anchors/\(name)" }

  package var mediaType: String {
    switch format {
    case .vical: "application/cwt"
    case .trustedEntities: "application/jose"
    }
  }

  /// The bytes that stand at `path`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try make(authority, now)
  }
}
