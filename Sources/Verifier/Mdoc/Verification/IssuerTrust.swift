import Base
import PKIX

/// Who may sign documents of which type: implemented by the trust store.
public protocol IssuerTrust: Sendable {
  /// SHA-256 of everything that decides about trust, in hexadecimal.
  var snapshot: String { get }

  /// Validates a document signer's chain for a document type.
  func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation
}
