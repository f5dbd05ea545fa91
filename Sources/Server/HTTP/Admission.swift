/// What is to become of a request that has arrived whole, before anything is done for it.
package enum Admission: Sendable {
  /// Handled at once and never refused for load: what tells how the server is.
  case essential
  /// Handled in its turn.
  case normal
  /// Work that begins something. It waits for what finishes something, and is the first to be refused: a server that
  /// has too much to do completes what it has begun.
  case deferrable
  case refused(HTTPFault)
}

/// What is to become of a request's body, before a byte of it is taken.
package struct BodyAdmission: Sendable {
  package enum Decision: Sendable {
    case taken(from: BodyOwner)
    case refused(HTTPResponse)
  }

  package let decision: Decision

  package init(_ decision: Decision) { self.decision = decision }

  /// It is taken, as one of the peer's.
  package init(of request: HTTPRequest) { decision = .taken(from: .address(ClientAddress(request.remoteAddress))) }
}

/// Why a server refuses a request for load.
package enum Overload: String, Sendable, Hashable, CaseIterable {
  /// It would wait longer than it may.
  case delay
  /// As many as may wait do.
  case full
  /// As many bytes of bodies are held as may be.
  case memory
}
