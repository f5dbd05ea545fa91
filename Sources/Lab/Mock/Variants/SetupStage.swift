import Base
import CBOR
import Cryptography

extension Stages {
  /// The stage for a document's data, keys, certificates and dates.
  static let setup = EditStage<DocumentSetup>(
    "setup",
    setupParts.merging(certificate(\.signer.certificate, "certificate")) { $1 }
      .merging(certificate(\.signer.intermediate!.template, "intermediate")) { $1 },
    documentActions.merging(signerActions) { $1 })

  private static let setupParts: [String: EditPart<DocumentSetup>] = [
    "now": .reading(\.now.edited),
    // The value of a requested element, and that element's names.
    "element": EditPart(
      get: { $0.data[$0.anyRequested.namespace, $0.anyRequested.identifier] },
      set: { $0.data[$0.anyRequested.namespace, $0.anyRequested.identifier] = $1 }),
    "lists": .reading { .text($0.authority.addresses.base) },
    "requested.namespace": .reading { .text($0.anyRequested.namespace) },
    "requested.identifier": .reading { .text($0.anyRequested.identifier) },
    // All namespaces with their elements, and the main namespace.
    "data": .at(\.data.namespaces.content),
    "main": EditPart(
      get: { $0.data.namespaces.content[$0.mainNamespace] },
      set: { $0.data.namespaces.content[$0.mainNamespace] = $1 }),
    "mainNamespace": .reading { .text($0.mainNamespace) },
    "ageThresholds": .list(\.data.ageThresholds),
    "signed": .at(\.validity.signed), "validFrom": .at(\.validity.validFrom),
    "validUntil": .at(\.validity.validUntil), "expectedUpdate": .at(\.validity.expectedUpdate),
    "keyAuthorizations": .at(\.keyAuthorizations), "status": .at(\.status),
    // Namespaces with elements that the device signs.
    "deviceSigned": .at(\.deviceSigned.content),
    "signerKey": .reading { .bytes($0.signer.key.publicKey.encoded) },
  ]

  private static let documentActions: [String: EditAction<DocumentSetup>] = [
    // Arguments: `signed`, `validFrom` and `validUntil`, in seconds from now.
    "validity": { setup, arguments in
      let times = try (0..<3).map { setup.now + Int64(try arguments.integer($0)) }
      setup.validity = ValidityInfo(signed: times[0], validFrom: times[1], validUntil: times[2])
    },
    "digests": { $0.useDigests(try HashAlgorithm(edited: $1(0))) },
    "deviceKey": { setup, arguments in
      let curve = try Curve(edited: arguments(0))
      setup.deviceKey = try setup.authority.seed.key("device/\(setup.data.docType)", on: curve)
    },
    "signerKeyForDevice": { setup, _ in setup.deviceKey = setup.signer.key },
    // The arguments identify the element to return or withhold (see `element`).
    "disclose": { $0.added.append(try $0.element($1)) },
    "withhold": { $0.withheld.append(try $0.element($1)) },
    "return": { setup, arguments in
      setup.data[setup.mainNamespace, try arguments.text(0)] = arguments(1)
      setup.added.append((setup.mainNamespace, try arguments.text(0)))
    },
    // Returns exactly these age attestations.
    "attest": { setup, arguments in
      setup.data.ageThresholds = []
      for (threshold, value) in MapDraft(arguments(0)).entries {
        let identifier = "age_over_\(try Int64(edited: threshold))"
        setup.data[setup.mainNamespace, identifier] = value
        setup.added.append((setup.mainNamespace, identifier))
      }
    },
    "discloseOtherNamespaces": { setup, _ in
      for namespace in setup.data.namespaces where namespace.name != setup.mainNamespace {
        for element in namespace.elements { setup.added.append((namespace.name, element.identifier)) }
      }
    },
    "discloseUnrequested": { setup, arguments in
      let namespace = setup.mainNamespace
      let requested = setup.requested.elements.map(\.identifier)
      let elements = setup.data.namespaces.first { $0.name == namespace }?.elements ?? []
      for element in elements.filter({ !requested.contains($0.identifier) }).prefix(2) {
        setup.added.append((namespace, element.identifier))
      }
    },
    "otherDocument": { setup, _ in
      setup.data = setup.held.first { $0.docType != setup.requested.docType } ?? setup.data
      for element in setup.data.namespaces.first?.elements.prefix(3) ?? [] {
        setup.added.append((setup.mainNamespace, element.identifier))
      }
    },
    // Gives a photo ID a birth date 21 years ago, with the year's last digit, the month and the day masked. An mDL
    // withholds its birth date.
    "approximateBirthDate": { setup, _ in
      setup.data.ageThresholds = []
      guard setup.mainNamespace == MockNamespace.photoID else {
        return setup.withheld.append((setup.mainNamespace, "birth_date"))
      }
      setup.data[setup.mainNamespace, "birth_date"] = [
        "birth_date": .fullDate(setup.now.date.shifted(years: -21)), "approximate_mask": "00011111",
      ]
    },
  ]

  private static let signerActions: [String: EditAction<DocumentSetup>] = [
    // Uses a signer on another curve, or under another anchor.
    "signer": { try $0.useSigner(on: Curve(edited: $1(0))) },
    "anchor": { try $0.useSigner(under: AnchorKind(edited: $1(0))) },
    "unknownRoot": { setup, _ in try setup.useUnknownRoot() },
    "selfSigned": { setup, _ in
      try setup.useSigner(under: CertificateIssuer(name: setup.signer.certificate.subject, key: setup.signer.key))
    },
    "intermediate": { try $0.useIntermediate(under: AnchorKind(edited: $1(0))) },
    "loop": { setup, _ in try setup.useLoop() },
    "lookAlike": { setup, _ in try setup.useLookAlike() },
    "impostor": { setup, _ in setup.signer.issuerKey = try setup.authority.impostor },
    // Adds the anchor to the chain the given number of times.
    "addRoot": { setup, arguments in
      setup.signer.further = [[UInt8]](
        repeating: try setup.authority.goodRoot(at: setup.now), count: try arguments.integer(0))
    },
    // Adds non-critical name constraints that permit only another organization.
    "constrainNames": { setup, arguments in
      var permitted = setup.signer.certificate.subject
      permitted.set(CertificateName.organization, to: DER.utf8String(try arguments.text(0)))
      var constraints = CertificateExtension.nameConstraints(permitting: permitted)
      constraints.isCritical = false
      setup.signer.intermediate?.template.extensions.append(constraints)
    },
    // Arguments: the DER of a key's algorithm, and the key.
    "certify": { setup, arguments in
      setup.signer.certificate.certify(.init(algorithm: try arguments.bytes(0), key: try arguments.bytes(1)))
    },
    "decoyKey": { setup, _ in
      let decoy = try setup.authority.seed.key("decoy", on: setup.authority.issuerCurve).publicKey
      setup.signer.certificate.subject.attributes.insert(
        (CertificateName.uniqueIdentifier, DER.bitString(SubjectPublicKeyInfo.der(of: decoy))), at: 0)
    },
    // An EdDSA key cannot sign with SHA-1. With such a key, the certificate only contains the identifier of ECDSA with
    // SHA-1.
    "signWithSHA1": { setup, _ in
      var algorithm = CertificateAlgorithm.ecdsaWithSHA1
      if setup.signer.issuerKey.curve.family != .weierstrass { algorithm.hash = nil }
      setup.signer.certificate.signatureAlgorithm = algorithm
    },
    "trail": { setup, arguments in
      let trailer = try arguments.bytes(0)
      setup.signer.finish = { $0 + trailer }
    },
  ]

  /// The parts of an unsigned certificate. Each name begins with `prefix`.
  static func certificate<Draft>(
    _ template: any WritableKeyPath<Draft, CertificateTemplate> & Sendable, _ prefix: String
  ) -> [String: EditPart<Draft>] {
    let parts: [String: EditPart<CertificateTemplate>] = [
      "notBefore": .at(\.notBefore), "notAfter": .at(\.notAfter), "serialNumber": .at(\.serialNumber),
      "issuer": .at(\.issuer), "subject": .at(\.subject),
      "extensions": .extensions(\.extensions),
    ]
    return .init(uniqueKeysWithValues: parts.map { ("\(prefix).\($0)", .at(template, $1)) })
  }
}

extension DocumentSetup {
  /// The element that an action's arguments identify. Two arguments are a namespace and an identifier. One argument is
  /// an identifier in the main namespace. No argument means the requested element.
  fileprivate func element(_ arguments: EditArguments) throws -> Element {
    switch arguments.values.count {
    case 0: anyRequested
    case 1: (mainNamespace, try arguments.text(0))
    default: (try arguments.text(0), try arguments.text(1))
    }
  }

  mutating func useSigner(on curve: Curve? = nil, under anchor: AnchorKind = .good) throws {
    try useSigner(on: curve, under: authority.certificateIssuer(anchor))
    signer.certificate.nameList(at: authority.addresses.crl(of: anchor.rawValue))
  }

  mutating func useSigner(on curve: Curve? = nil, under issuer: CertificateIssuer) throws {
    signer = try MockSigner(authority: authority, under: issuer, curve: curve, at: now)
  }

  /// Uses a signer under an untrusted authority.
  mutating func useUnknownRoot() throws {
    try useSigner(under: authority.issuer("mdoc Mock IACA that nobody trusts", key: "unknown root"))
  }

  /// Puts a certificate between the anchor and the signer.
  mutating func useIntermediate(under anchor: AnchorKind) throws {
    let root = try authority.certificateIssuer(anchor)
    let issuer = try authority.intermediateIssuer()
    var template = certificate(of: issuer, by: root)
    template.nameList(at: authority.addresses.crl(of: anchor.rawValue))
    try useSigner(under: issuer)
    signer.certificate.nameList(at: authority.addresses.crl(of: CertificateIssuer.intermediateList))
    signer.intermediate = (template, root.key)
  }

  /// An authority's certificate, issued by another authority.
  private func certificate(of subject: CertificateIssuer, by issuer: CertificateIssuer) -> CertificateTemplate {
    var template = authority.rootTemplate(subject, AnchorKind.good.validity(at: now))
    template.issuer = issuer.name
    template.extensions.append(.authorityKeyIdentifier(issuer.keyIdentifier))
    return template
  }

  /// Uses a chain of two authorities without an anchor. Each certifies the other.
  fileprivate mutating func useLoop() throws {
    let pair = try ["A", "B"].map { try authority.issuer("mdoc Mock loop \($0)", key: "loop \($0)") }
    try useSigner(under: pair[0])
    signer.further = [
      try certificate(of: pair[0], by: pair[1]).signed(by: pair[1].key),
      try certificate(of: pair[1], by: pair[0]).signed(by: pair[0].key),
    ]
  }

  /// Adds a root to the chain. The root has the anchor's name and key identifier, but another key.
  fileprivate mutating func useLookAlike() throws {
    let genuine = try authority.certificateIssuer(.good)
    let key = try authority.seed.key("look-alike", on: authority.issuerCurve)
    var root = authority.rootTemplate(.init(name: genuine.name, key: key), AnchorKind.good.validity(at: now))
    root[oid: CertificateExtension.subjectKeyIdentifierOID] = .subjectKeyIdentifier(genuine.keyIdentifier)
    signer.issuerKey = key
    signer.further = [try root.signed(by: key)]
  }

  mutating func useDigests(_ algorithm: HashAlgorithm) {
    digestAlgorithm = algorithm
    digestAlgorithmName = algorithm.name
  }
}

extension MockAuthority {
  /// The key of an impostor that claims to be the authority.
  var impostor: PrivateKey { get throws { try seed.key("impostor", on: issuerCurve) } }
}

extension [MockDocumentData.Namespace] {
  /// The namespaces as a map from names to maps of elements.
  var content: MapDraft {
    get {
      MapDraft(
        map { namespace in
          (.text(namespace.name), .map(namespace.elements.map { (.text($0.identifier), $0.value) }))
        })
    }
    set {
      func name(_ key: CBORValue) -> String { if case .text(let name) = key { name } else { "" } }
      self = newValue.entries.map { key, elements in
        .init(name(key), MapDraft(elements).entries.map { (name($0.key), $0.value) })
      }
    }
  }
}

// MARK: Values of certificates

/// Maps each attribute's short name or object identifier to its DER value.
extension CertificateName: EditValue {
  private static let names = ["C": country, "ST": stateOrProvince, "O": organization, "CN": commonName]

  init(edited value: CBORValue?) throws {
    self.init(country: nil, state: nil, organization: nil, commonName: "")
    attributes = try MapDraft(value).entries.map { key, value in
      let name = try String(edited: key)
      return (Self.names[name] ?? name, try [UInt8](edited: value))
    }
  }

  var edited: CBORValue? {
    .map(
      attributes.map { attribute in
        (.text(Self.names.first { $0.value == attribute.oid }?.key ?? attribute.oid), .bytes(attribute.value))
      })
  }
}

/// Maps each extension's name or object identifier to its value. Each value is DER, or `{"critical": true, "value":
/// DER}`.
extension [CertificateExtension] {
  private static let names = [
    "subjectKeyIdentifier": Element.subjectKeyIdentifierOID, "keyUsage": Element.keyUsageOID,
    "issuerAltName": Element.issuerAltNameOID, "basicConstraints": Element.basicConstraintsOID,
    "crlDistributionPoints": Element.crlDistributionPointsOID,
    "authorityKeyIdentifier": Element.authorityKeyIdentifierOID,
    "policyConstraints": Element.policyConstraintsOID, "extendedKeyUsage": Element.extendedKeyUsageOID,
  ]

  init(edited value: CBORValue?) throws {
    self = try MapDraft(value).entries.map { key, value in
      let name = try String(edited: key)
      let fields = MapDraft(value)
      return CertificateExtension(
        oid: Self.names[name] ?? name, isCritical: try fields["critical"].map { try Bool(edited: $0) } ?? false,
        value: try [UInt8](edited: fields["value"] ?? value))
    }
  }

  var edited: CBORValue? {
    .map(
      map { entry in
        let name = Self.names.first { $0.value == entry.oid }?.key ?? entry.oid
        return (.text(name), ["critical": .bool(entry.isCritical), "value": .bytes(entry.value)])
      })
  }
}

extension EditPart {
  static func extensions(_ path: any WritableKeyPath<Draft, [CertificateExtension]> & Sendable) -> Self {
    EditPart(get: { $0[keyPath: path].edited }, set: { $0[keyPath: path] = try [CertificateExtension](edited: $1) })
  }
}

extension HashAlgorithm: EditValue {
  var name: String {
    switch self {
    case .sha1: "SHA-1"
    case .sha256: "SHA-256"
    case .sha384: "SHA-384"
    case .sha512: "SHA-512"
    }
  }

  init(edited value: CBORValue?) throws {
    let name = try String(edited: value)
    guard let hash = Self.allCases.first(where: { $0.name == name }) else { throw EditError("no hash is \(name)") }
    self = hash
  }
  var edited: CBORValue? { .text(name) }
}
