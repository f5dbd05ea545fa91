import Base
import Mdoc

/// Why a session failed, or a wallet declined: the first failed check, and all of them. Codes and clauses only.
///
/// Codes are kept as their names, so that a record written by another version can still be read.
package struct LastError: Sendable, Hashable {
  package struct Reason: Sendable, Hashable {
    package let code: String
    /// The document's place in the response, or nil where the fault is the whole answer's.
    package let document: Int?
    package let clause: String
  }

  package let code: String
  package let reasons: [Reason]

  /// Of a verdict's reasons, of which there is at least one.
  package init(_ reasons: [Base.Reason]) {
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
  package static let interrupted = LastError([Base.Reason(.sessionInterrupted)])
}
