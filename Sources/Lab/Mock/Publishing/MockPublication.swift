/// What a mock publisher serves at one address.
public struct MockPublication: Sendable, Hashable {
  public let address: String
  public let answer: Answer

  public enum Answer: Sendable, Hashable {
    case list(bytes: [UInt8], mediaType: String)
    case fault(Fault)
  }

  /// Why there is no list at an address, though the address is one that may be asked.
  public enum Fault: String, Sendable, CaseIterable {
    /// No complete answer comes.
    case unavailable
    /// More bytes come than any verifier here takes.
    case tooLarge = "too_large"
  }

  public init(address: String, bytes: [UInt8], mediaType: String) {
    self.address = address
    answer = .list(bytes: bytes, mediaType: mediaType)
  }

  public init(address: String, fault: Fault) {
    self.address = address
    answer = .fault(fault)
  }

  public var bytes: [UInt8]? { if case .list(let bytes, _) = answer { bytes } else { nil } }
  public var mediaType: String? { if case .list(_, let mediaType) = answer { mediaType } else { nil } }
  public var fault: Fault? { if case .fault(let fault) = answer { fault } else { nil } }

  /// As the formats' own standards name them: RFC 2585, RFC 9052, RFC 7515.
  public static let crlMediaType = "application/pkix-crl"
  public static let vicalMediaType = "application/cose"
  public static let trustedEntityListMediaType = "application/jose"
}
