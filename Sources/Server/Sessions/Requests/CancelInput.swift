import Base

/// What a wallet told the app or page that asked it, where its protocol has no word of its own for that.
package enum CancelReason: String, Sendable, CaseIterable {
  case declined, unavailable, failed

  /// As a wallet's own error (OpenID4VP 1.0, 8.5) is recorded.
  var code: Code {
    switch self {
    case .declined: .walletAccessDenied
    case .unavailable: .walletUnavailable
    case .failed: .walletOtherError
    }
  }
}

/// The body of `POST …/{id}/cancel`.
struct CancelInput {
  /// Nil where the relying party itself ends the session.
  let reason: CancelReason?

  init(parsing json: JSON) throws(ServiceError) {
    var faults = InputFaults()
    let input = ObjectInput(json, at: "", known: ["reason"], &faults)
    let text = input?.string("reason", required: false, &faults)
    reason = text.flatMap(CancelReason.init)
    if text != nil, reason == nil {
      let known = CancelReason.allCases.map(\.rawValue).joined(separator: ", ")
      faults.add("/reason", "must be one of \(known)")
    }
    try faults.throwIfAny()
  }
}
