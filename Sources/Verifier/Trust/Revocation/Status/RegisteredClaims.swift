import Base

/// What both kinds of list, in both forms, say of themselves (RFC 8392, 3.1; Token Status List, 5).
struct RegisteredClaims: Sendable {
  let subject: String
  let issuedAt: Timestamp
  let expires: Timestamp
  let notBefore: Timestamp?
  /// Seconds after which the publisher wants the list to be fetched anew.
  let timeToLive: Int64?

  /// Whether the list is the one that was asked for, and current. Only dates of the signing may be ahead of our clock by
  /// what clocks differ; nothing makes a list live longer than its signer meant (ISO/IEC 18013-5, second edition,
  /// 12.3.6 requires the expiry).
  func require(subject uri: String, at now: Timestamp) throws(StatusListError) {
    guard subject.hasSameBytes(as: uri) else { throw .invalid("sub is not the address that the document names") }
    guard issuedAt <= now + Limits.clockSkew else { throw .invalid("issued in the future") }
    if let notBefore, notBefore > now + Limits.clockSkew { throw .invalid("not yet valid") }
    guard now < expires else { throw .invalid("expired") }
  }

  /// A NumericDate (RFC 8392, 2; RFC 7519, 2) in whole seconds; nil where it is no date that a timestamp can hold.
  static func date(_ seconds: Double) -> Timestamp? {
    // Beyond 2^53 a double no longer counts seconds.
    guard seconds.magnitude < 0x1p53 else { return nil }
    return Timestamp(secondsSince1970: Int64(seconds.rounded(.down)))
  }
}
