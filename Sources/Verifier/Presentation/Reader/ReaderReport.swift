import Base
import PKIX

/// What checking a reader's request came to: everything about the request, and about each signature in it.
public struct ReaderReport: Sendable {
  public enum Kind: String, Sendable {
    case deviceRequest = "device_request"
    case requestObject = "request_object"
  }

  public let kind: Kind
  /// Of the request as a whole.
  public let checks: [Check]
  public let signatures: [ReaderSignature]

  /// Whether a wallet that has the given roots knows who asks: every part is signed by a reader that is trusted, and no
  /// signature is broken. One by a reader whose authority is another wallet's to trust does no harm.
  public var isAuthenticated: Bool {
    !checks.contains { $0.outcome == .failed } && !signatures.contains(where: \.isBroken)
  }
}

/// One signature of a reader.
public struct ReaderSignature: Sendable {
  /// Where it stands: `docRequests[0].readerAuth`.
  public let place: String
  /// The certificates, the reader's own first, up to the root where one was found; what could be read of them.
  public let certificates: [Certificate]
  public let checks: [Check]

  var isGood: Bool { !checks.contains { $0.outcome == .failed } }

  /// Whether more is wrong than that nobody here knows the reader.
  var isBroken: Bool { checks.contains { $0.outcome == .failed && !Self.ofStrangers.contains($0.code) } }

  private static let ofStrangers: Set<Code> = [.readerUntrusted, .readerCertificateProfile]
}
