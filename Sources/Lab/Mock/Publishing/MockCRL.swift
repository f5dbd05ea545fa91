import Base
import Cryptography

/// A certificate revocation list as the mock authority publishes it, by name: right, or wrong in one respect.
package struct MockCRL: MockCatalogued {
  /// Its code is what a verifier finds about a document signer under the good anchor. No code if the list is right and
  /// does not revoke it.
  package let declaration: MockDeclaration
  let change: MockChange<Draft>

  /// A list that a variant may still change, and the certificate numbers that it may revoke.
  struct Draft {
    let authority: MockAuthority
    let now: Timestamp
    /// The list's address in the signer's certificate; nil for the authority's own.
    let address: String?
    var list: RevocationListTemplate

    /// The certificate number of the documents' usual signer.
    func signerSerialNumber() throws -> [UInt8] {
      let issuer = try authority.certificateIssuer(.good)
      var signer = try MockSigner(authority: authority, under: issuer, at: now)
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
    _ change: @escaping MockChange<Draft> = { _ in }
  ) {
    declaration = MockDeclaration(name, summary, cases: cases, code: code)
    self.change = change
  }

  /// The list's DER. It changes once a day of `now`.
  ///
  /// - Parameter address: where the list is served; nil for the authority's own address. The address is part of the
  ///   signer's certificate, and so decides the certificate's number.
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
}

extension MockCRL {
  /// Nothing is revoked, and nothing is wrong.
  package static let good = MockCRL("crl-empty", "Nothing is revoked.")

  package static let all: [MockCRL] =
    [
      good,
      MockCRL("crl-others", "Other certificates are revoked, with reasons; one has a negative number.") {
        $0.list([0x01, 0x02, 0x03], .reasonCode(1))
        $0.list([0x7f] + [UInt8](repeating: 0xaa, count: 19), .reasonCode(9))
        // The negative of the signer's number.
        $0.list(negated(try $0.signerSerialNumber()))
      },
    ] + revoked + notTheAuthoritys + notCurrent + notFull + misshapen

  private static let revoked = [
    MockCRL("crl-signer-revoked", "The document signer is revoked.", cases: "R01", .signerRevoked) {
      $0.list([0x01])
      $0.list(try $0.signerSerialNumber(), .reasonCode(1))
    },
    MockCRL("crl-signer-on-hold", "The document signer is on hold.", cases: "R01", .signerRevoked) {
      $0.list(try $0.signerSerialNumber(), .reasonCode(6))
    },
    MockCRL("crl-authority-revoked", "The authority lists itself.", cases: "R02", .authorityRevoked) {
      $0.list(try $0.anchorSerialNumber(), .reasonCode(2))
    },
  ]

  private static let notTheAuthoritys = [
    invalid("crl-bad-signature", "The signature does not verify.") { $0.list.signature = .damaged },
    invalid("crl-unsigned", "The signature is empty.") { $0.list.signature = .absent },
    invalid("crl-signed-by-another", "Another key has signed it in the authority's name.") {
      $0.list.key = try $0.authority.seed.key("crl/other", on: $0.authority.issuerCurve)
    },
    invalid("crl-other-issuer", "It is issued under another name, by the authority's key.") {
      $0.list.issuer = $0.authority.name("mdoc Mock other authority")
    },
    invalid("crl-other-key-identifier", "It names another key identifier.") {
      $0.list.extensions[0] = .authorityKeyIdentifier([UInt8](repeating: 0x55, count: 20))
    },
    invalid("crl-two-algorithms", "The signed part names another algorithm than the list.") {
      $0.list.namedAlgorithm = .ecdsaWithSHA1
    },
  ]

  private static let notCurrent = [
    invalid("crl-stale", "The next update was due a second ago.") {
      $0.list.thisUpdate = $0.now - 10 * Seconds.day
      $0.list.nextUpdate = $0.now - 1
    },
    invalid("crl-future", "It is dated a second in the future.") { $0.list.thisUpdate = $0.now + 1 },
    invalid("crl-without-next-update", "It does not say when the next one comes.") { $0.list.nextUpdate = nil },
    invalid("crl-ends-before-it-begins", "The next update lies before this one.") {
      $0.list.nextUpdate = $0.list.thisUpdate - 1
    },
  ]

  private static let notFull = [
    invalid("crl-indirect", "It is an indirect list.") { $0.list.extensions.append(.issuingDistributionPoint(4)) },
    invalid("crl-indirect-entry", "An entry is of another issuer's certificate.") {
      $0.list([0x05], .certificateIssuer($0.authority.name("mdoc Mock other authority")))
    },
    invalid("crl-delta", "It is a delta list.") { $0.list.extensions.append(.deltaCRLIndicator(base: 1)) },
    invalid("crl-distribution-point", "A critical issuing distribution point restricts it to CA certificates.") {
      $0.list.extensions.append(.issuingDistributionPoint(2))
    },
    invalid("crl-distribution-point-not-critical", "It is restricted to user certificates, and not critically.") {
      $0.list.extensions.append(.issuingDistributionPoint(1, isCritical: false))
    },
    invalid("crl-removal", "An entry takes the signer's revocation back, in a full list.") {
      $0.list(try $0.signerSerialNumber(), .reasonCode(8))
    },
  ]

  private static let misshapen = [
    invalid("crl-version-1", "It is of version 1, without extensions.") {
      $0.list.version = nil
      $0.list.extensions = []
    },
    invalid("crl-critical-extension", "It has a critical extension that nobody knows.") {
      $0.list.extensions.append(unknown)
    },
    invalid("crl-critical-entry-extension", "An entry has a critical extension that nobody knows.") {
      $0.list([0x05], unknown)
    },
    invalid("crl-extension-twice", "Its number stands twice.") { $0.list.extensions += $0.list.extensions.suffix(1) },
    invalid("crl-reason-twice", "An entry has two reasons.") { $0.list([0x05], .reasonCode(1), .reasonCode(6)) },
    invalid("crl-trailing-bytes", "A byte follows it.") { $0.list.trailer = [0x00] },
    MockCRL("crl-too-large", "It is larger than any verifier here takes.", cases: "R08", .revocationListTooLarge) {
      let filler = [UInt8](repeating: 0, count: Limits.listBytes)
      $0.list.extensions.append(CertificateExtension(oid: unknown.oid, isCritical: false, value: filler))
    },
  ]

  private static let unknown = CertificateExtension(oid: "1.3.6.1.4.1.99999.18013.9", isCritical: true, value: DER.null)

  private static func invalid(
    _ name: String, _ summary: String, _ change: @escaping MockChange<Draft>
  ) -> MockCRL {
    MockCRL(name, summary, cases: "R03", .crlInvalid, change)
  }
}

/// The negative of a number, in two's complement.
private func negated(_ number: [UInt8]) -> [UInt8] {
  var bytes = number.map { ~$0 }
  for index in bytes.indices.reversed() {
    bytes[index] &+= 1
    if bytes[index] != 0 { break }
  }
  return bytes
}
