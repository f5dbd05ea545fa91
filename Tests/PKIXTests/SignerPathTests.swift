import Base
import Cryptography
import Testing

@testable import Mock
@testable import PKIX

/// The paths of lists' signers: one rule broken at a time, and only its code.
@Suite struct SignerPathTests {
  let maker: CertificateMaker
  let root: Certificate

  init() throws {
    maker = try CertificateMaker()
    root = try Certificate(der: maker.rootTemplate().signed(by: maker.root.key))
  }

  // MARK: What passes

  @Test func `A signer under a configured authority passes`() throws {
    let path = validate([try signer()])
    #expect(path.isTrusted)
    #expect(path.checks.allSatisfy { $0.outcome == .passed } && path.checks.count == 3)
    #expect(path.certificates.map(\.der) == [try signer().der, root.der])
  }

  @Test func `The authority's certificate may follow the signer's`() throws {
    #expect(validate([try signer(), root]).isTrusted)
  }

  @Test func `A signer passes through an intermediate of an authority that allows it`() throws {
    let (leaf, intermediate, anchor) = try longPath()
    #expect(validate([leaf, intermediate, anchor], authorities: [anchor]).isTrusted)
    #expect(validate([leaf, intermediate, anchor], authorities: [anchor]).certificates.count == 3)
    #expect(validate([leaf, intermediate], authorities: [anchor]).isTrusted)
    #expect(validate([leaf, intermediate, anchor], authorities: [intermediate]).certificates.count == 2)
  }

  @Test func `A signer that is itself configured needs no authority`() throws {
    let leaf = try signer()
    let path = validate([leaf, root], authorities: [], signers: [leaf])
    #expect(path.isTrusted && path.certificates.count == 1)
  }

  @Test func `Of the certificates that are configured, authorities vouch for others and signers for themselves`() throws
  {
    let leaf = try signer()
    let anchors = SignerPath.Anchors(configured: [root, leaf], allowsTestCertificates: true)
    #expect(anchors.authorities.map(\.der) == [root.der] && anchors.signers.map(\.der) == [leaf.der])
  }

  @Test func `A purpose that is accepted beside the role's own passes`() throws {
    let leaf = try signer { $0[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(["1.2.3.4"]) }
    #expect(failures([leaf]) == [.listSignerProfile])
    let path = SignerPath.validate(
      chain: [leaf], anchors: .init(authorities: [root], allowsTestCertificates: true), at: maker.now,
      role: .vicalSigner, alsoAccepting: ["1.2.3.4"])
    #expect(path.isTrusted)
  }

  @Test func `Usages that are not critical, and too long a validity, only warn`() throws {
    let leaf = try signer {
      $0[oid: CertificateExtension.keyUsageOID]?.isCritical = false
      $0.notBefore = maker.now - 900 * Seconds.day
    }
    let long = try Certificate(
      der: maker.rootTemplate().changed { $0.notBefore = maker.now - 1000 * Seconds.day }.signed(by: maker.root.key))
    #expect(validate([leaf], authorities: [long]).isTrusted)
    let check = validate([leaf], authorities: [long]).checks.first { $0.code == .listSignerProfile }
    #expect(check?.outcome == .warning && check?.detail?.contains("1200 days") == true)
    #expect(check?.detail?.contains("keyUsage or extKeyUsage is not critical") == true)
  }

  // MARK: The signer's issuer

  @Test func `An empty, an overlong and a malformed chain are refused`() throws {
    #expect(failures([]) == [.listSignerUntrusted])
    #expect(failures([Certificate](repeating: try signer(), count: 6)) == [.listSignerUntrusted])
    let anchors = SignerPath.Anchors(authorities: [root], allowsTestCertificates: true)
    let malformed = SignerPath.validate(x5chain: [[0x30, 0x00]], anchors: anchors, at: maker.now, role: .vicalSigner)
    #expect(malformed.failures == [.listSignerUntrusted] && malformed.certificates.isEmpty)
  }

  /// Otherwise the certificates after it would be ignored, and the rest might reach an anchor.
  @Test func `A chain with one certificate that can't be read is refused`() throws {
    let leaf = try signer()
    let anchors = SignerPath.Anchors(authorities: [root], allowsTestCertificates: true)
    let path = SignerPath.validate(
      x5chain: [leaf.der[...], [0x30, 0x00]], anchors: anchors, at: maker.now, role: .vicalSigner)
    #expect(path.failures == [.listSignerUntrusted] && path.certificates.isEmpty)
  }

  @Test func `A chain that would be good if it were shorter is refused`() throws {
    let roots = [Certificate](repeating: root, count: Limits.chainCertificates)
    #expect(failures([try signer()] + roots.dropLast()) == [])
    #expect(failures([try signer()] + roots) == [.listSignerUntrusted])
  }

  @Test func `No anchors, no trust`() throws {
    #expect(failures([try signer(), root], authorities: []) == [.listSignerUntrusted])
  }

  @Test func `A root that the chain brings along is no anchor, whatever its name`() throws {
    let other = try CertificateMaker()
    let leaf = try Certificate(der: other.signer { profile(&$0) })
    let otherRoot = try Certificate(der: other.rootTemplate().signed(by: other.root.key))
    #expect(otherRoot.subject.der == root.subject.der)
    #expect(failures([leaf, otherRoot]) == [.listSignerUntrusted])
  }

  @Test func `A self-signed signer is refused unless it is configured`() throws {
    let key = try PrivateKey(generatingOn: .p256)
    var template = try maker.signerTemplate(key.publicKey)
    profile(&template)
    template.issuer = template.subject
    template[oid: CertificateExtension.authorityKeyIdentifierOID] = nil
    let leaf = try Certificate(der: template.signed(by: key))
    #expect(failures([leaf]) == [.listSignerUntrusted])
    #expect(failures([leaf], signers: [leaf]) == [])
  }

  /// It is a root, and a root has no anchor but itself.
  @Test func `A self-signed signer of its authority's name and key is refused`() throws {
    let leaf = try signer {
      $0.subject = $0.issuer
      $0.publicKeyInfo = SubjectPublicKeyInfo.der(of: maker.root.key.publicKey)
      $0[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier(maker.root.keyIdentifier)
    }
    #expect(leaf.isSelfSigned && leaf.isSigned(by: root))
    #expect(failures([leaf]) == [.listSignerUntrusted])
  }

  @Test func `A signer of its authority's name is chained by key`() throws {
    let leaf = try signer { $0.subject = $0.issuer }
    #expect(failures([leaf]) == [])
    #expect(validate([leaf, root]).certificates.count == 2)
  }

  @Test func `A signer that is the configured authority itself is refused, and it is said why`() throws {
    let path = validate([root])
    #expect(path.failures.contains(.listSignerUntrusted))
    #expect(path.checks.first?.detail?.contains("is an anchor with the CA flag") == true)
  }

  @Test(arguments: [("2.5.29.36", [0x30, 0x03, 0x80, 0x01, 0x00]), ("2.5.29.54", [0x02, 0x01, 0x00])])
  func `An intermediate with constraints is refused whatever their criticality`(oid: String, value: [UInt8]) throws {
    let (leaf, intermediate, anchor) = try longPath {
      $0.extensions.append(.init(oid: oid, isCritical: false, value: value))
    }
    #expect(failures([leaf, intermediate], authorities: [anchor]) == [.listSignerUntrusted])
  }

  @Test func `An intermediate for other purposes certifies no signer of lists`() throws {
    for (purpose, isRefused) in [("1.0.18013.5.1.8", false), ("2.5.29.37.0", false), ("1.0.18013.5.1.2", true)] {
      let (leaf, intermediate, anchor) = try longPath { $0.extensions.append(.extendedKeyUsage([purpose])) }
      #expect(failures([leaf, intermediate], authorities: [anchor]) == (isRefused ? [.listSignerUntrusted] : []))
    }
  }

  @Test func `A signature by another key is refused`() throws {
    let template = try maker.signerTemplate().changed(profile)
    #expect(
      failures([try Certificate(der: template.signed(by: maker.root.key, damagingSignature: true))])
        == [.listSignerUntrusted])
  }

  @Test func `Another key identifier or another name of the issuer is refused`() throws {
    let identifier = try signer {
      $0[oid: CertificateExtension.authorityKeyIdentifierOID] = .authorityKeyIdentifier([1, 2, 3])
    }
    #expect(failures([identifier]) == [.listSignerUntrusted])
    let name = try signer { $0.issuer.set(CertificateName.commonName, to: DER.utf8String("other")) }
    #expect(failures([name]) == [.listSignerUntrusted])
  }

  @Test func `A signer that an intermediate signed under another name is refused`() throws {
    let (_, intermediate, anchor) = try longPath()
    let (leaf, another, _) = try longPath(issuerName: "another")
    #expect(failures([leaf, another], authorities: [anchor]) == [.listSignerUntrusted])
    #expect(leaf.isSigned(by: another) && another.subject.der == intermediate.subject.der)
  }

  @Test func `A path is valid to the second, without skew`() throws {
    let leaf = try signer { $0.notAfter = maker.now }
    #expect(failures([leaf]) == [])
    #expect(failures([leaf], at: maker.now + 1) == [.listSignerUntrusted])
    #expect(failures([try signer { $0.notBefore = maker.now + 1 }]) == [.listSignerUntrusted])
    #expect(failures([try signer { $0.notAfter = maker.until + 10 }], at: maker.until + 1) == [.listSignerUntrusted])
  }

  @Test func `Test certificates are refused in live mode`() throws {
    let leaf = try signer { $0.extensions.append(.mockMarker) }
    let anchors = SignerPath.Anchors(authorities: [root], allowsTestCertificates: false)
    let path = SignerPath.validate(chain: [leaf], anchors: anchors, at: maker.now, role: .vicalSigner)
    #expect(path.failures == [.listSignerUntrusted])
  }

  // MARK: Authorities

  @Test func `An anchor or an intermediate that is no authority is refused`() throws {
    let plain = try maker.anchor { $0[oid: CertificateExtension.basicConstraintsOID] = nil }.certificate
    #expect(failures([try signer()], authorities: [plain]) == [.listSignerUntrusted])
    let noUsage = try longPath { $0[oid: CertificateExtension.keyUsageOID] = nil }
    #expect(failures([noUsage.leaf, noUsage.intermediate], authorities: [noUsage.root]) == [.listSignerUntrusted])
    let notCA = try longPath { $0[oid: CertificateExtension.basicConstraintsOID] = nil }
    #expect(failures([notCA.leaf, notCA.intermediate], authorities: [notCA.root]) == [.listSignerUntrusted])
  }

  @Test func `A path longer than an authority allows is refused`() throws {
    let (leaf, intermediate, _) = try longPath()
    #expect(failures([leaf, intermediate]) == [.listSignerUntrusted])
  }

  @Test func `An authority with an unknown critical extension is refused`() throws {
    let odd = CertificateExtension(oid: "1.2.3.4.5", isCritical: true, value: DER.null)
    let anchor = try maker.anchor { $0.extensions.append(odd) }.certificate
    #expect(failures([try signer()], authorities: [anchor]) == [.listSignerUntrusted])
  }

  // MARK: The signer's own certificate

  @Test(arguments: [
    CertificateExtension.keyUsage(.digitalSignature), .keyUsage(.nonRepudiation, .digitalSignature),
    .keyUsage(.nonRepudiation, .keyCertSign), .extendedKeyUsage(["1.0.18013.5.1.2"]),
    .basicConstraints(isCA: true, pathLength: nil),
    CertificateExtension(oid: "1.2.3.4.5", isCritical: true, value: DER.null),
  ])
  func `A VICAL signer of another profile is refused`(extension changed: CertificateExtension) throws {
    let leaf = try signer { $0[oid: changed.oid] = changed }
    #expect(failures([leaf]) == [.listSignerProfile])
    #expect(failures([leaf], signers: [leaf]) == [.listSignerProfile])
  }

  @Test(arguments: [CertificateExtension.keyUsageOID, CertificateExtension.extendedKeyUsageOID])
  func `A VICAL signer without key usage or extended key usage is refused`(oid: String) throws {
    #expect(failures([try signer { $0[oid: oid] = nil }]) == [.listSignerProfile])
  }

  @Test func `A signature algorithm or a key outside the table is said to be that`() throws {
    let sha1 = try signer { $0.signatureAlgorithm = .ecdsaWithSHA1 }
    #expect(failures([sha1]) == [.listAlgorithmUnsupported])
    let rsa = try signer { $0.certify(.rsa(modulus: [UInt8](repeating: 0xc5, count: 256))) }
    #expect(failures([rsa]) == [.listAlgorithmUnsupported])
  }

  // MARK: Making them

  /// Makes a document signer's certificate a VICAL signer's.
  private func profile(_ template: inout CertificateTemplate) {
    template[oid: CertificateExtension.keyUsageOID] = .keyUsage(.nonRepudiation)
    template[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage(["1.0.18013.5.1.8"])
  }

  private static let key = try? PrivateKey(generatingOn: .p256)

  private func signer(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
    var template = try maker.signerTemplate(Self.key?.publicKey)
    profile(&template)
    change(&template)
    return try Certificate(der: template.signed(by: maker.root.key))
  }

  /// - Parameter issuerName: the issuer that the signer names; nil for the intermediate.
  private func longPath(
    issuerName: String? = nil, _ change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws -> (leaf: Certificate, intermediate: Certificate, root: Certificate) {
    let issuer = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: "intermediate"),
      key: try PrivateKey(generatingOn: .p256))
    var template = maker.caTemplate(issuer, under: maker.root, pathLength: 0)
    change(&template)
    let anchor = try maker.anchor {
      $0[oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: nil)
    }
    var leaf = try maker.signerTemplate(under: issuer).changed(profile)
    if let issuerName { leaf.issuer.set(CertificateName.commonName, to: DER.utf8String(issuerName)) }
    return (
      try Certificate(der: leaf.signed(by: issuer.key)), try Certificate(der: template.signed(by: maker.root.key)),
      anchor.certificate
    )
  }

  private func validate(
    _ chain: [Certificate], authorities: [Certificate]? = nil, signers: [Certificate] = [], at now: Timestamp? = nil
  ) -> SignerPath {
    SignerPath.validate(
      chain: chain,
      anchors: .init(authorities: authorities ?? [root], signers: signers, allowsTestCertificates: true),
      at: now ?? maker.now, role: .vicalSigner)
  }

  private func failures(
    _ chain: [Certificate], authorities: [Certificate]? = nil, signers: [Certificate] = [], at now: Timestamp? = nil
  ) -> [Code] {
    validate(chain, authorities: authorities, signers: signers, at: now).failures
  }
}

extension SignerPath {
  fileprivate var failures: [Code] { checks.filter { $0.outcome == .failed }.map(\.code) }
}

extension CertificateTemplate {
  fileprivate func changed(_ change: (inout CertificateTemplate) -> Void) -> CertificateTemplate {
    var copy = self
    change(&copy)
    return copy
  }
}
