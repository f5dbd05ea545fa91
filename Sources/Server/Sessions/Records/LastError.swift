import Mdoc
import Base

/// Why a session failed, or a wallet declined: the first failed check, and all of them. Codes and clauses only.
///
/// Codes are kept as their names, so that a record written by another version can still be read.
public struct LastError: Sendable, Hashable {
  public struct Reason: Sendable, Hashable {
    public let code: String
    /// The document's place in the response, or nil where the fault is the whole answer's.
    public let document: Int?
    public let clause: String
  }

  public let code: String
  public let reasons: [Reason]

  /// Of a verdict's reasons, of which there is at least one.
  public init(_ reasons: [Base.Reason]) {
    self.reasons = reasons.map {
      Reason(code: $0.code.rawValue, document: $0.document, clause: $0.code.entry.clause)
    }
    code = self.reasons.first?.code ?? Code.apiInternal.rawValue
  }

  init(code: String, reasons: [Reason]) {
    self.code = code
    self.reasons = reasons
  }

  /// The server stopped, or could not open the challenge, between consuming it and recording what came of it.
  public static let interrupted = LastError([Base.Reason(.sessionInterrupted)])
}
