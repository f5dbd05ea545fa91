import Base
import CBOR
import Cryptography

/// A VICAL as a mock provider publishes it, by name: right, or wrong in one respect.
package struct MockVICAL: MockCatalogued {
  package let declaration: MockDeclaration
  /// The code with which a driving licence of the good authority is refused, if only this list is trusted; nil if it is
  /// verified. A list that is itself refused makes nothing trusted.
  package let documentCode: Code?
  /// Whether `code` is found only after the good list of the same time was accepted.
  package let followsGood: Bool
  let change: MockChange<VICALDraft>

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, warnings: [Code] = [],
    documentCode: Code? = nil, followsGood: Bool = false,
    _ change: @escaping MockChange<VICALDraft> = { _ in }
  ) {
    declaration = MockDeclaration(name, summary, cases: cases, code: code, warnings: warnings)
    self.documentCode = documentCode
    self.followsGood = followsGood
    self.change = change
  }

  /// The list's bytes. They change once a day of `now`, except in variants with times to the second.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    var draft = try VICALDraft(authority: authority, at: now)
    try change(&draft)
    return try draft.encoded()
  }

  /// The certificate of the provider's authority, DER: the anchor that a verifier configures for the list's signer.
  package static func signerAnchor(of authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try authority.rootCertificate(of: authority.vicalProvider(), at: now)
  }

  /// What a verifier remembers of the good list after it accepted it: its date, its number, and the SHA-256 of its
  /// payload.
  package static func remembered(
    of authority: MockAuthority, at now: Timestamp
  ) throws -> (date: Timestamp, number: Int64, digest: [UInt8]) {
    let payload = try VICALDraft(authority: authority, at: now).message().payload
    return (Timestamp(date: now.date), Int64(now.date.daysSince1970), HashAlgorithm.sha256.hash(payload))
  }
}

extension MockVICAL {
  /// The good authority is listed with its document types, and nothing is wrong.
  package static let good = MockVICAL("vical-good", "The good authority is listed, and nothing is wrong.")

  package static let all: [MockVICAL] =
    [good] + controls + signatures + signers + headers + structures + times + entries + mismatches

  private static let controls = [
    MockVICAL("vical-without-next-update", "It does not say when the next one comes.") { $0.list["nextUpdate"] = nil },
    MockVICAL("vical-lower-number", "It is newer than the good one, under a lower number.", followsGood: true) {
      $0.list["date"] = .time(Timestamp(date: $0.now.date) + 1)
      $0.list["vicalIssueID"] = 1
    },
    MockVICAL("vical-second-edition", "It has the members of the second edition, and unknown ones.") {
      $0.list["notAfter"] = .time($0.now)
      $0.list["vicalURL"] = "https://vical.mdoc-mock.invalid/"
      $0.list["org.example"] = ["something"]
    },
    MockVICAL("vical-protected-chain", "x5chain is in the protected header.") {
      $0.changeMessage = {
        $0.protected[33] = $0.unprotected[33]
        $0.unprotected = MapDraft()
      }
    },
    MockVICAL("vical-terse-entry", "An entry has only what it must have, and a small number.") { draft in
      let issuer = try draft.authority.certificateIssuer(.pathLengthOne)
      var template = try draft.authority.anchorTemplate(.pathLengthOne, at: draft.now)
      template.serialNumber = [0x01, 0x00]
      var entry = try draft.entry(template, signedBy: issuer, docTypes: [MockDocType.mDL])
      entry.entries.removeSubrange(4...)
      entry["serialNumber"] = 256
      draft.entries.append(entry.value)
    },
    MockVICAL(
      "vical-doc-type-lacking", "The good authority is listed for vehicle registrations.", cases: "V04",
      documentCode: .issuerNotTrustedForDocType
    ) { $0.changeEntry { $0["docType"] = ["org.iso.7367.1.mVRC"] } },
    MockVICAL("vical-empty", "It has no entries.", documentCode: .issuerUnknown) { $0.entries = [] },
    MockVICAL("vical-capital-names", "Members of entries begin with capital letters.", warnings: [.listDeviation]) {
      $0.changeEntry {
        $0.rename("extensions", to: "Extensions")
        $0.rename("certificateProfile", to: "CertificateProfile")
      }
    },
    MockVICAL("vical-wrapped-identifier", "A key identifier is the extension's DER.", warnings: [.listDeviation]) {
      $0.changeEntry { $0["ski"] = .bytes([0x04, 0x16, 0x04, 0x14] + $0.bytes("ski")) }
    },
    MockVICAL(
      "vical-twelve-hours", "Midnight is written as twelve in an entry's times.", warnings: [.listDeviation]
    ) {
      let template = try $0.authority.anchorTemplate(.good, at: $0.now)
      $0.changeEntry {
        $0["notBefore"] = .time(template.notBefore + 12 * Seconds.hour)
        $0["notAfter"] = .time(template.notAfter + 12 * Seconds.hour)
      }
    },
    MockVICAL("vical-root-in-chain", "The provider's root follows the signer.", warnings: [.listDeviation]) {
      $0.signer.further = [try MockVICAL.signerAnchor(of: $0.authority, at: $0.now)]
    },
  ]

  private static let signatures = [
    MockVICAL("vical-bad-signature", "The signature does not verify.", cases: "V01", .listSignatureInvalid) {
      $0.changeParts = { $0.signature = $0.signature.flipped }
    },
    MockVICAL("vical-changed", "It was signed for another day.", cases: "V01", .listSignatureInvalid) {
      var other = $0
      other.list["date"] = .time($0.now - 30 * Seconds.day)
      let signature = try other.message().parts().signature
      $0.changeParts = { $0.signature = signature }
    },
    MockVICAL("vical-signed-by-another", "Another key has signed it.", cases: "V01", .listSignatureInvalid) {
      let key = try $0.authority.seed.key("vical other", on: $0.authority.issuerCurve)
      $0.changeMessage = { $0.key = key }
    },
  ]

  private static let signers = [
    untrusted("vical-unknown-signer", "The signer is under a root that it brings along.") {
      let issuer = try CertificateIssuer(
        name: $0.authority.name("mdoc Mock other root"),
        key: $0.authority.seed.key("vical other root", on: $0.authority.issuerCurve))
      try $0.useSigner(under: issuer)
    },
    untrusted("vical-look-alike-root", "The signer is under a root of the right name with another key.") {
      try $0.useSigner(under: $0.authority.vicalProvider(key: "vical look-alike"))
    },
    untrusted("vical-document-authority", "The signer is certified by the authority that it lists.") {
      let issuer = try $0.authority.certificateIssuer(.good)
      $0.signer = try MockSigner(.vicals, authority: $0.authority, under: issuer, at: $0.now)
    },
    untrusted("vical-signer-expired", "The signer's certificate ended a second ago.") {
      $0.signer.certificate.notAfter = $0.now - 1
    },
    untrusted("vical-signer-damaged", "The signature of the signer's certificate does not verify.") {
      $0.signer.issuerKey = try $0.authority.seed.key("vical other", on: $0.authority.issuerCurve)
    },
    untrusted("vical-without-chain", "It does not say who signed it.") {
      $0.changeMessage = { $0.unprotected = MapDraft() }
    },
    misfit("vical-signer-purpose", "The signer is certified for signing documents.") {
      $0[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage([MockSigner.mDLKeyUsage])
    },
    misfit("vical-signer-without-purpose", "The signer is certified for no purpose.") {
      $0[oid: CertificateExtension.extendedKeyUsageOID] = nil
    },
    misfit("vical-signer-usage", "The signer's key usage is digitalSignature.") {
      $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.digitalSignature)
    },
    misfit("vical-signer-two-usages", "The signer's key usage is digitalSignature, too.") {
      $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.nonRepudiation, .digitalSignature)
    },
    misfit("vical-signer-is-ca", "The signer is a certification authority.") {
      $0[oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: nil)
    },
  ]

  private static func untrusted(
    _ name: String, _ summary: String, _ change: @escaping MockChange<VICALDraft>
  ) -> MockVICAL {
    MockVICAL(name, summary, cases: "V01", .listSignerUntrusted, change)
  }

  private static func misfit(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
  ) -> MockVICAL {
    MockVICAL(name, summary, cases: "V01", .listSignerProfile) { change(&$0.signer.certificate) }
  }
}

extension VICALDraft {
  /// Takes another provider's signer, and adds that provider's root to the chain.
  fileprivate mutating func useSigner(under issuer: CertificateIssuer) throws {
    signer = try MockSigner(.vicals, authority: authority, under: issuer, at: now)
    signer.further = [try authority.rootCertificate(of: issuer, at: now)]
  }
}

extension MapDraft {
  fileprivate mutating func rename(_ key: String, to other: String) {
    let value = self[key]
    self[key] = nil
    self[other] = value
  }
}
