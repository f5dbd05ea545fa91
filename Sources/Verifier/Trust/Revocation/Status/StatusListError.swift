import Mdoc

/// Why a status list or identifier list cannot be used: the document's status is then not known.
public struct StatusListError: Error, Sendable, Hashable {
  public let uncertainty: RevocationUncertainty
  public let detail: String

  init(_ uncertainty: RevocationUncertainty, _ detail: String) {
    self.uncertainty = uncertainty
    self.detail = detail
  }

  /// Malformed, expired, of another subject, or not validly signed.
  static func invalid(_ detail: String) -> StatusListError { StatusListError(.statusListInvalid, detail) }

  public var finding: RevocationFinding { .undetermined(uncertainty, detail: detail) }
}
