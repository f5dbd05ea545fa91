import Base

/// One named way for the mock authority to publish its certificate revocation list: rightly, or wrongly in one respect.
package struct MockCRL: Sendable {
  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// The rows of the project's list of negative cases.
  package let cases: [String]
  /// What a verifier finds about a document signer under the good anchor; nil: that nothing is revoked.
  package let code: Code?
  let change: @Sendable (inout Draft) throws -> Void

  /// A list under way, and whose numbers may go into it.
  struct Draft {
    let authority: MockAuthority
    let now: Timestamp
    /// Where the signer's certificate says that the list is; nil: at the authority's own address.
    let address: String?
    var list: RevocationListTemplate

    /// The certificate of the signer that the mock wallet's documents have unless a variant says otherwise.
    func signerSerialNumber() throws -> [UInt8] {
      let issuer = try authority.certificateIssuer(.good)
      var signer = try DocumentSigner(authority: authority, under: issuer, curve: authority.issuerCurve, at: now)
      if let address { signer.nameList(at: address) }
      return signer.certificate.serialNumber(signedBy: issuer.key)
    }

    func anchorSerialNumber() throws -> [UInt8] {
      try authority.anchorTemplate(.good, at: now).serialNumber(signedBy: authority.certificateIssuer(.good).key)
    }

    mutating func list(_ serialNumber: [UInt8], _ extensions: CertificateExtension...) {
      list.entries.append(.init(serialNumber: serialNumber, date: now - Seconds.day, extensions: extensions))
    }
  }

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil,
    _ change: @escaping @Sendable (inout Draft) throws -> Void = { _ in }
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.code = code
    self.change = change
  }

  /// The list's DER, which changes once a day of `now`.
  /// - Parameter address: where it is served, if not at the authority's own: the numbers of certificates that name it
  ///   are others.
  package func published(
    by authority: MockAuthority, at now: Timestamp, address: String? = nil
  ) throws -> [UInt8] {
    try published(by: authority, for: authority.certificateIssuer(.good), at: now, address: address)
  }

  func published(
    by authority: MockAuthority, for issuer: CertificateIssuer, at now: Timestamp, address: String? = nil
  ) throws -> [UInt8] {
    var draft = Draft(
      authority: authority, now: now, address: address, list: RevocationListTemplate(issuer: issuer, at: now))
    try change(&draft)
    return try draft.list.der()
  }

  package static func named(_ name: String) -> MockCRL? { all.first { $0.name == name } }
}
