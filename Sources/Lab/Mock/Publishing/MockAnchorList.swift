import Base

/// A list of trust anchors as a publisher serves it, right or wrong in one respect: a VICAL, or a list of trusted
/// entities.
package struct MockAnchorList: Sendable {
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
  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// What a verifier that has accepted the good list refuses it for; nil: it is accepted.
  package let code: Code?
  private let make: @Sendable (MockAuthority, Timestamp) throws -> [UInt8]

  package static let all: [MockAnchorList] =
    MockVICAL.all.map { list in
      MockAnchorList(
        format: .vical, name: list.name, summary: list.summary, code: list.code,
        make: { try list.published(by: $0, at: $1) })
    }
    + MockTrustedEntityList.all.map { list in
      MockAnchorList(
        format: .trustedEntities, name: list.name, summary: list.summary, code: list.code,
        make: { try list.published(by: $0, at: $1) })
    }

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
