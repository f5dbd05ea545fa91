/// What a mock publisher serves at one address.
package struct MockPublication: Sendable, Hashable {
  package let address: String
  package let answer: Answer

  package enum Answer: Sendable, Hashable {
    case list(bytes: [UInt8], mediaType: String)
    case fault(Fault)
  }

  /// Why there is no list at an address, though the address is one that may be asked.
  package enum Fault: String, Sendable, CaseIterable {
    /// No complete answer comes.
    case unavailable
    /// More bytes come than any verifier here takes.
    case tooLarge = "too_large"
  }

  package init(address: String, bytes: [UInt8], mediaType: String) {
    self.address = address
    answer = .list(bytes: bytes, mediaType: mediaType)
  }

  package init(address: String, fault: Fault) {
    self.address = address
    answer = .fault(fault)
  }

  package var bytes: [UInt8]? { if case .list(let bytes, _) = answer { bytes } else { nil } }
  package var mediaType: String? { if case .list(_, let mediaType) = answer { mediaType } else { nil } }
  package var fault: Fault? { if case .fault(let fault) = answer { fault } else { nil } }

  /// As the formats' own standards name them: RFC 2585, RFC 9052, RFC 7515.
  package static let crlMediaType = "application/pkix-crl"
  package static let vicalMediaType = "application/cose"
  package static let trustedEntityListMediaType = "application/jose"
}
