import Base
import Cryptography
import Testing

@testable import Mock
@testable import PKIX

/// The facts by which both kinds of paths are checked. Each test breaks one rule in a path with one intermediate, and
/// meets all other rules.
@Suite struct CertificationPathTests {
  let maker: CertificateMaker
  let middle: CertificateIssuer

  init() throws {
    maker = try CertificateMaker()
    middle = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: "middle"),
      key: try PrivateKey(generatingOn: .p256))
  }

  // MARK: Links

  @Test func `A good path breaks no rule`() throws {
    let path = try path()
    #expect(broken(path) == [])
    #expect(path.links.count == 2 && path.links.last?.issuer.der == path.certificates[2].der)
    #expect(path.intermediates.map(\.der) == [path.certificates[1].der])
    #expect(path.authorities.map(\.intermediatesBelow) == [0, 1] && path.authorities.map(\.isAnchor) == [false, true])
  }

  @Test func `A signer that is itself the anchor has neither links nor authorities`() throws {
    let path = CertificationPath([try path().certificates[0]])
    #expect(broken(path) == [] && path.links.isEmpty && path.authorities.isEmpty && path.intermediates.isEmpty)
  }

  @Test(arguments: [0, 1])
  func `A link by another name, or to another key identifier, is misnamed`(position: Int) throws {
    let name = try path { $0[position].issuer.set(CertificateName.commonName, to: DER.utf8String("other")) }
    #expect(broken(name) == ["name \(position)"])
    let identifier = try path {
      $0[position][oid: CertificateExtension.authorityKeyIdentifierOID] = .authorityKeyIdentifier([1, 2, 3])
    }
    #expect(broken(identifier) == ["name \(position)"])
  }

  @Test func `A certificate that another key has signed is unsigned`() throws {
    let good = try path().certificates
    let forged = try Certificate(der: templates()[0].signed(by: PrivateKey(generatingOn: .p256)))
    #expect(broken(CertificationPath([forged] + good.dropFirst(), anchorHasSigned: true)) == ["signature 0"])
  }

  /// The search has already checked that signature, and its result is used.
  @Test func `Whether the anchor has signed is what the search found`() throws {
    let good = try path().certificates
    #expect(broken(CertificationPath(good, anchorHasSigned: false)) == ["signature 1"])
    let forged = try Certificate(der: templates()[1].signed(by: PrivateKey(generatingOn: .p256)))
    #expect(broken(CertificationPath([good[0], forged, good[2]], anchorHasSigned: true)) == [])
  }

  @Test(arguments: [0, 1])
  func `An algorithm that is not supported can't be verified, and is not called unsigned`(position: Int) throws {
    let path = try path(anchorHasSigned: position != 1) { $0[position].signatureAlgorithm = .ecdsaWithSHA1 }
    #expect(broken(path) == ["algorithm"])
  }

  @Test func `A key that is not supported can't be verified, the signer's own among them`() throws {
    let rsa = SubjectPublicKeyInfo.rsa(modulus: [UInt8](repeating: 0xc5, count: 256)).der
    for position in 0...2 {
      #expect(broken(try path(anchorHasSigned: position != 2) { $0[position].publicKeyInfo = rsa }) == ["algorithm"])
    }
  }

  // MARK: Each certificate

  @Test(arguments: 0...2)
  func `Validity is to the second, the skew included`(position: Int) throws {
    let short = try path {
      $0[position].notBefore = maker.now
      $0[position].notAfter = maker.now + 10
    }
    for (offset, skew, isCurrent) in [
      (0, 0, true), (-1, 0, false), (10, 0, true), (11, 0, false), (-5, 5, true), (-6, 5, false), (15, 5, true),
      (16, 5, false),
    ] as [(Int64, Int64, Bool)] {
      let found = broken(short, at: maker.now + offset, skew: skew)
      #expect(found == (isCurrent ? [] : ["validity \(position)"]), "\(offset) \(skew)")
    }
  }

  @Test(arguments: 0...2)
  func `A test certificate is found wherever it is`(position: Int) throws {
    #expect(broken(try path { $0[position].extensions.append(.mockMarker) }) == ["test \(position)"])
  }

  @Test(arguments: 0...2)
  func `An unknown critical extension is found wherever it is`(position: Int) throws {
    let odd = CertificateExtension(oid: "1.2.3.4.5", isCritical: true, value: DER.null)
    #expect(broken(try path { $0[position].extensions.append(odd) }) == ["critical \(position)"])
    let harmless = CertificateExtension(oid: "1.2.3.4.5", isCritical: false, value: DER.null)
    #expect(broken(try path { $0[position].extensions.append(harmless) }) == [])
  }

  // MARK: Authorities

  @Test(arguments: [1, 2])
  func `What has not the CA flag is no authority`(position: Int) throws {
    let path = try path { $0[position][oid: CertificateExtension.basicConstraintsOID] = nil }
    #expect(broken(path) == ["CA \(position)"])
  }

  @Test(arguments: [1, 2])
  func `A key for other uses certifies nothing; only an anchor need not say what its key is for`(position: Int) throws {
    let other = try path { $0[position][oid: CertificateExtension.keyUsageOID] = .keyUsage(.crlSign) }
    #expect(broken(other) == ["usage \(position)"])
    let silent = try path { $0[position][oid: CertificateExtension.keyUsageOID] = nil }
    #expect(broken(silent) == (position == 1 ? ["usage 1"] : []))
  }

  @Test func `A path length counts the intermediates below`() throws {
    for (limit, found) in [(0, ["length 2"]), (1, []), (nil, [])] as [(UInt8?, [String])] {
      let path = try path {
        $0[2][oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: limit)
      }
      #expect(broken(path) == found)
    }
    let good = try path().certificates
    let longer = CertificationPath([good[0], good[1], good[1], good[2]], anchorHasSigned: true)
    #expect(longer.authorities.map(\.allowsLength) == [true, false, true])
  }

  @Test(arguments: [("2.5.29.36", [0x30, 0x03, 0x80, 0x01, 0x00]), ("2.5.29.54", [0x02, 0x01, 0x00])])
  func `An intermediate's constraints are not processed`(oid: String, value: [UInt8]) throws {
    let constraint = CertificateExtension(oid: oid, isCritical: false, value: value)
    #expect(broken(try path { $0[1].extensions.append(constraint) }) == ["constraint 1"])
    #expect(broken(try path { $0[2].extensions.append(constraint) }) == [])
  }

  @Test func `An intermediate certifies for the purposes that it names`() throws {
    for (purpose, found) in [
      (TrustAnchor.documentSignerUsage, []), ("2.5.29.37.0", []), ("1.0.18013.5.1.6", ["purpose 1"]),
    ] {
      #expect(broken(try path { $0[1].extensions.append(.extendedKeyUsage([purpose])) }) == found)
    }
  }

  // MARK: The anchor

  @Test func `The anchor is the one of the name whose key signed`() throws {
    let namesakes = try (0..<2).map { _ in try CertificateMaker().anchor().certificate }
    let signer = try signer()
    let root = try maker.anchor().certificate
    let found = CertificationPath.anchor(of: signer, among: namesakes + [root], certificate: \.self)
    #expect(found?.anchor.der == root.der && found?.hasSigned == true)
    let fitting = CertificationPath.anchor(of: signer, among: namesakes, certificate: \.self)
    #expect(fitting?.anchor.der == namesakes[0].der && fitting?.hasSigned == false)
  }

  @Test func `No anchor is one of another name, of another key identifier, or the certificate itself`() throws {
    let root = try maker.anchor().certificate
    let stranger = try CertificateMaker(named: "stranger").anchor().certificate
    #expect(CertificationPath.anchor(of: try signer(), among: [stranger], certificate: \.self) == nil)
    let otherKey = try Certificate(der: maker.signer())
    let namesake = try CertificateMaker().anchor().certificate
    #expect(CertificationPath.anchor(of: otherKey, among: [namesake], certificate: \.self) == nil)
    #expect(CertificationPath.anchor(of: root, among: [root], certificate: \.self) == nil)
  }

  @Test func `Of several anchors with the key, the lowest rank is used, and a signature before any rank`() throws {
    let roots = try (1...3).map { days in
      try maker.anchor { $0.notAfter = maker.until + Int64(days) * Seconds.day }.certificate
    }
    func found(_ ranks: [Int]) throws -> Int? {
      let candidates = Array(zip(roots, ranks).enumerated())
      return CertificationPath.anchor(
        of: try signer(), among: candidates, certificate: \.element.0, rank: \.element.1)?.anchor.offset
    }
    #expect(try found([2, 1, 1]) == 1)
    #expect(try found([0, 0, 0]) == 0)
    #expect(try found([2, 1, 0]) == 2)
    let preferred = try CertificateMaker().anchor().certificate
    let signing = CertificationPath.anchor(
      of: try signer(), among: [preferred, roots[0]], certificate: \.self, rank: { $0.der == preferred.der ? 0 : 1 })
    #expect(signing?.anchor.der == roots[0].der && signing?.hasSigned == true)
  }

  // MARK: Making them

  /// A signer under the root that names no key of its issuer.
  private func signer() throws -> Certificate {
    try Certificate(der: maker.signer { $0[oid: CertificateExtension.authorityKeyIdentifierOID] = nil })
  }

  /// The signer, the intermediate and the root.
  private func templates() throws -> [CertificateTemplate] {
    [
      try maker.signerTemplate(under: middle), maker.caTemplate(middle, under: maker.root, pathLength: 0),
      maker.caTemplate(maker.root, under: maker.root, pathLength: nil),
    ]
  }

  private func path(
    anchorHasSigned: Bool = true, _ change: (inout [CertificateTemplate]) -> Void = { _ in }
  ) throws -> CertificationPath {
    var templates = try templates()
    change(&templates)
    let certificates = try zip(templates, [middle.key, maker.root.key, maker.root.key]).map {
      try Certificate(der: $0.signed(by: $1))
    }
    return CertificationPath(certificates, anchorHasSigned: anchorHasSigned)
  }

  /// Every rule that is broken, with the index of the certificate that breaks it.
  private func broken(_ path: CertificationPath, at now: Timestamp? = nil, skew: Int64 = 0) -> [String] {
    var broken: [String] = []
    func require(_ condition: Bool, _ rule: String) { if !condition { broken.append(rule) } }
    for (index, link) in path.links.enumerated() {
      require(link.isNamed, "name \(index)")
      require(link.isSigned, "signature \(index)")
    }
    require(path.algorithmFaults.isEmpty, "algorithm")
    for (index, certificate) in path.certificates.enumerated() {
      require(certificate.periodFault(at: now ?? maker.now, skew: skew) == nil, "validity \(index)")
      require(!certificate.isForTests, "test \(index)")
      require(certificate.unknownCriticalExtensions.isEmpty, "critical \(index)")
    }
    for (index, authority) in path.authorities.enumerated() {
      require(authority.isCA, "CA \(index + 1)")
      require(authority.hasCertifyingKey, "usage \(index + 1)")
      require(authority.allowsLength, "length \(index + 1)")
    }
    for (index, intermediate) in path.intermediates.enumerated() {
      require(intermediate.unprocessedConstraints.isEmpty, "constraint \(index + 1)")
      require(intermediate.mayCertify(forPurposes: [TrustAnchor.documentSignerUsage]), "purpose \(index + 1)")
    }
    return broken
  }
}
