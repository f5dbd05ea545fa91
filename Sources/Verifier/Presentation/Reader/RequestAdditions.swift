/// What a relying party adds to each of its requests by its own configuration, whichever protocol carries them.
public struct RequestAdditions: Sendable {
  /// Key identifiers of issuing authorities by document type: wallets are to offer only their documents. A type without
  /// an entry is offered from any authority.
  ///
  /// It is a hint to wallets (OpenID4VP 1.0, 6.1.1.1, `aki`; ISO/IEC 18013-5, second edition, 10.2.4,
  /// `issuerIdentifiers`). The trust store decides which documents are accepted.
  public var acceptedIssuers: [String: [[UInt8]]]
  /// What a European relying party is registered to ask for. It goes into signed OpenID4VP requests as `verifier_info`,
  /// unless it is a CWT (ETSI TS 119 472-2, 6.3.2.2), and into every document's request of a DeviceRequest (5.3.2
  /// there).
  public var registration: RegistrationCertificate?

  public init(acceptedIssuers: [String: [[UInt8]]] = [:], registration: RegistrationCertificate? = nil) {
    self.acceptedIssuers = acceptedIssuers
    self.registration = registration
  }
}
