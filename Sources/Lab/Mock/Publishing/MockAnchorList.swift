import Base

/// A list of trust anchors as a publisher serves it: a VICAL or a list of trusted entities, right or wrong in one
/// respect.
package struct MockAnchorList: MockDeclared {
  package enum Format: String, Sendable, CaseIterable {
    case vical
    case trustedEntities = "trusted-entities"

    /// The certificate, DER, that a verifier configures as the anchor of the list's signer.
    package func signerAnchor(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
      switch self {
      case .vical: try MockVICAL.signerAnchor(of: authority, at: now)
      case .trustedEntities: try MockTrustedEntityList.signerRoot(of: authority, at: now)
      }
    }
  }

  package let format: Format
  /// Its code is why a verifier refuses the list after it accepted the good one. No code if the list is accepted.
  package let declaration: MockDeclaration
  /// Whether the code is found only after the good list of the same time was accepted.
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

  /// The path below the publisher's base address.
  package var path: String { "anchors/\(name)" }

  package var mediaType: String {
    switch format {
    case .vical: "application/cwt"
    case .trustedEntities: "application/jose"
    }
  }

  /// The bytes that are served at `path`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try make(authority, now)
  }
}
