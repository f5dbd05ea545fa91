import Base
import CBOR
import Compression
import Cryptography

/// A draft of a signed list, made in the stages `Stages.lists`. The list is a VICAL (ISO/IEC 18013-5, C.1.7), a list of
/// trusted entities (ETSI TS 119 602, 6), a status list or identifier list (Token Status List, 5; ISO/IEC 18013-5,
/// second edition, 12.3.6), or a CRL (RFC 5280, 5.1).
struct ListDraft: Sendable {
  let kind: MockList.Kind
  let authority: MockAuthority
  let now: Timestamp
  /// True for a JSON Web Token, false for a CBOR Web Token.
  let isJWT: Bool
  /// The list's signer; for a CRL, the document signer that the CRL may revoke.
  var signer: MockSigner
  /// A document's reference to a token (StatusListInfo or IdentifierListInfo), and the whole `status` if it is not the
  /// usual one.
  var reference = MapDraft()
  var otherStatus: CBORValue?
  /// The list's members without its entries: a VICAL's members, ListAndSchemeInformation, or a token's claims.
  var members = MapDraft()
  /// `certificateInfos`, the trusted entities, or the token's StatusList or IdentifierList; nil if the list has no
  /// entries.
  var entries: CBORValue?
  /// True if a list of trusted entities is in the member `LoTE`.
  var isWrapped = true
  var crl: RevocationListTemplate

  /// The signed list.
  var payload: [UInt8] = []
  /// The protected header without a token's chain. The chain is added later if the unprotected header has none.
  var header = MapDraft()
  var unprotected = MapDraft()
  var carriesChain = false
  /// Extra bytes to sign after the list, which make the signature wrong.
  var alsoSigned: [UInt8] = []
  /// The parts of the COSE_Sign1, or the parts of the compact JWS as bytes.
  var parts: [CBORValue] = []
  /// The signed bytes of a compact JWS.
  var signingInput: [UInt8] = []
  /// The bytes that are served.
  var bytes: [UInt8] = []

  enum Label {
    static let type = 16
    static let x5chain = 33
    static let subject = 2
    static let expires = 4
    static let notBefore = 5
    static let issuedAt = 6
    static let identifierList = 65_530
    static let statusList = 65_533
    static let timeToLive = 65_534
  }

  /// - Parameters:
  ///   - address: the list's address; nil for the authority's own address. The signer's certificate contains the
  ///     address of its CRL, so the certificate's number depends on the address.
  ///   - issuer: a CRL's issuer; nil for the good authority.
  init(
    _ kind: MockList.Kind, isJWT: Bool = false, authority: MockAuthority, address: String? = nil,
    issuer: CertificateIssuer? = nil, at now: Timestamp
  ) throws {
    self.kind = kind
    self.authority = authority
    self.now = now
    self.isJWT = isJWT
    let good = try authority.certificateIssuer(.good)
    crl = RevocationListTemplate(issuer: issuer ?? good, at: now)
    signer = try MockSigner(kind.signerRole, authority: authority, under: kind.signerIssuer(authority), at: now)
    switch kind {
    case .vical:
      members = MapDraft([
        ("version", "1.0"), ("vicalProvider", "mdoc Mock"), ("date", .tdate(day)),
        ("vicalIssueID", .unsigned(UInt64(max(day.secondsSince1970 / Seconds.day, 0)))),
        ("nextUpdate", .tdate(day + 2 * Seconds.day)),
      ])
      entries = .array(try [AnchorKind.good, .otherDocType].map(entry))
    case .trustedEntities:
      members = MapDraft([
        ("LoTEVersionIdentifier", 1), ("LoTESequenceNumber", .integer(Int64(now.date.daysSince1970))),
        ("LoTEType", "http://uri.etsi.org/19602/LoTEType/mDLProvidersList"),
        ("SchemeOperatorName", .english(SchemeOperator.name)), ("SchemeName", .english("EU:mdoc Mock list")),
        ("SchemeTerritory", .text(SchemeOperator.territory)), ("ListIssueDateTime", .text(day.description)),
        ("NextUpdate", .text((day + 30 * Seconds.day).description)),
      ])
      entries = [try trustedEntity()]
    case .status:
      makeToken(at: address ?? kind.address(authority), ("idx", .integer(Int64(MockList.statusIndex))))
      try setStatus(0, bits: 1)
    case .identifiers:
      makeToken(at: address ?? kind.address(authority), ("id", .bytes(MockList.identifier)))
      let others = (0..<16).map { CBORValue.bytes(MockList.identifier.dropLast() + [0x40 + $0]) }
      entries = ["identifiers": .map(others.map { ($0, [:]) })]
    case .crl:
      if let address { signer.certificate.nameList(at: address) }
    }
  }

  private mutating func makeToken(at uri: String, _ index: (CBORValue, CBORValue)) {
    reference = MapDraft([index, ("uri", .text(uri))])
    members = MapDraft([
      (.integer(Int64(Label.subject)), .text(uri)),
      (.integer(Int64(Label.issuedAt)), .integer((now - Seconds.hour).secondsSince1970)),
      (.integer(Int64(Label.expires)), .integer((now + Seconds.day).secondsSince1970)),
      (.integer(Int64(Label.timeToLive)), .integer(12 * Seconds.hour)),
    ])
  }

  /// The beginning of the current day. Lists therefore change once a day, except in variants with times to the second.
  var day: Timestamp { Timestamp(date: now.date) }

  // MARK: Entries

  /// Sets the document's status, and the status of all other documents.
  mutating func setStatus(_ status: UInt8, bits: Int, others: UInt8 = 0) throws {
    var statuses = [UInt8](repeating: others, count: MockList.statuses)
    statuses[MockList.statusIndex] = status
    try setStatuses(statuses, bits: bits)
  }

  mutating func setStatuses(_ statuses: [UInt8], bits: Int) throws {
    entries = ["bits": .integer(Int64(bits)), "lst": .bytes(try packedStatuses(statuses, bits: bits))]
  }

  /// A VICAL's entry for an anchor.
  func entry(of kind: AnchorKind) throws -> CBORValue {
    let template = try authority.anchorTemplate(kind, at: now)
    return try entry(template, signedBy: authority.certificateIssuer(kind), docTypes: kind.docTypes).value
  }

  /// A VICAL entry with all members.
  func entry(
    _ template: CertificateTemplate, signedBy issuer: CertificateIssuer, docTypes: [String]
  ) throws -> MapDraft {
    MapDraft([
      ("certificate", .bytes(try template.signed(by: issuer.key))),
      ("serialNumber", .tagged(2, .bytes(template.serialNumber(signedBy: issuer.key)))),
      ("ski", .bytes(issuer.keyIdentifier)), ("docType", .array(docTypes.map { .text($0) })),
      ("certificateProfile", ["urn:oid:1.0.18013.5.1.7"]), ("issuingAuthority", "mdoc Mock Issuing Authority"),
      ("issuingCountry", .text(authority.country)), ("stateOrProvinceName", .text(authority.stateOrProvince)),
      ("issuer", .bytes(template.issuer.der)), ("subject", .bytes(template.subject.der)),
      ("notBefore", .tdate(template.notBefore)), ("notAfter", .tdate(template.notAfter)), ("extensions", .map([])),
    ])
  }

  /// A VICAL entry with only the required members and a small serial number.
  func terseEntry() throws -> CBORValue {
    var template = try authority.anchorTemplate(.pathLengthOne, at: now)
    template.serialNumber = [0x01, 0x00]
    var entry = try entry(template, signedBy: authority.certificateIssuer(.pathLengthOne), docTypes: [MockDocType.mDL])
    entry.entries.removeSubrange(4...)
    entry["serialNumber"] = 256
    return entry.value
  }

  /// A correct entry for the document signer's certificate.
  func signerEntry() throws -> CBORValue {
    let signer = try documentSigner
    let template = signer.certificate
    let subject = CertificateIssuer(name: template.subject, key: signer.key)
    var entry = try entry(template, signedBy: subject, docTypes: [MockDocType.mDL])
    entry["certificate"] = .bytes(try template.signed(by: signer.issuerKey))
    entry["serialNumber"] = .tagged(2, .bytes(template.serialNumber(signedBy: signer.issuerKey)))
    return entry.value
  }

  var documentSigner: MockSigner {
    get throws { try MockSigner(authority: authority, under: authority.certificateIssuer(.good), at: now) }
  }

  /// The mock authority as a trusted entity that issues documents and signs status lists. Its members have short names
  /// (see `content`).
  private func trustedEntity() throws -> CBORValue {
    let certificates: CBORValue = [["val": .text(Base64.encode(try authority.goodRoot(at: now)))]]
    let services = [MockList.issuanceService, MockList.revocationService].map { type -> CBORValue in
      [
        "information": ["ServiceTypeIdentifier": .text(type), "ServiceName": .english("mdoc Mock service")],
        "identity": ["X509Certificates": certificates],
      ]
    }
    let address: CBORValue = [
      "lang": "en", "StreetAddress": "1 Example Street", "Locality": "Example", "PostalCode": "0000",
      "Country": .text(SchemeOperator.territory),
    ]
    return [
      "information": [
        "TEName": .english("mdoc Mock Issuing Authority"),
        "TEAddress": [
          "TEPostalAddress": [address],
          "TEElectronicAddress": [["lang": "en", "uriValue": "mailto:authority@mock.example"]],
        ],
        "TEInformationURI": [["lang": "en", "uriValue": "https://authority.mock.example/"]],
      ],
      "services": .array(services),
    ]
  }
}

// MARK: Making

extension ListDraft {
  /// The `status` of a document that refers to this list.
  var status: CBORValue {
    otherStatus ?? .map([(kind == .status ? "status_list" : "identifier_list", reference.value)])
  }

  /// Makes the signed content.
  mutating func prepare(_ mutation: MockMutation) throws {
    try mutation.apply(Stages.signer, to: &self)
    try mutation.apply(Stages.list, to: &self)
    try mutation.apply(Stages.crl, to: &self)
  }

  mutating func make(_ mutation: MockMutation) throws {
    try prepare(mutation)
    if kind == .crl {
      bytes = try crl.der()
    } else {
      payload = try content()
      try makeHeader()
      try mutation.apply(Stages.signed, to: &self)
      try sign()
      try mutation.apply(Stages.served, to: &self)
      bytes = joined
    }
    try mutation.apply(Stages.listBytes, to: &self)
  }

  /// The members and entries, encoded.
  func content() throws -> [UInt8] {
    var whole = members
    switch kind {
    case .trustedEntities:
      let entities = (entries?.elements ?? []).map(entity)
      let list: CBORValue = ["ListAndSchemeInformation": members.value, "TrustedEntitiesList": .array(entities)]
      return try JSON(edited: isWrapped ? ["LoTE": list] : list).serialized()
    case .status: whole[Label.statusList] = entries
    case .identifiers: whole[Label.identifierList] = entries
    case .vical, .crl: whole["certificateInfos"] = entries
    }
    guard isJWT else { return whole.value.encoded() }
    // The same claims under their JSON names (Token Status List, 5.1).
    let names: KeyValuePairs<Int, String> = [
      Label.subject: "sub", Label.issuedAt: "iat", Label.expires: "exp", Label.notBefore: "nbf",
      Label.timeToLive: "ttl", Label.statusList: "status_list",
    ]
    let claims = try names.compactMap { label, name in try whole[label].map { JSON.Member(name, try JSON(edited: $0)) }
    }
    return JSON.object(claims).serialized()
  }

  /// The JSON form of an entity, with full member names.
  private func entity(_ entity: CBORValue) -> CBORValue {
    let services = entity[step: "services"]?.elements.map { service -> CBORValue in
      var information = MapDraft(service[step: "information"])
      information["ServiceDigitalIdentity"] = service[step: "identity"]
      return ["ServiceInformation": information.value]
    }
    var whole = MapDraft()
    whole["TrustedEntityInformation"] = entity[step: "information"]
    whole["TrustedEntityServices"] = services.map { .array($0) }
    return whole.value
  }

  private var isCompact: Bool { isJWT || kind == .trustedEntities }

  private mutating func makeHeader() throws {
    let chain = try signer.chain()
    switch kind {
    case .trustedEntities:
      header = MapDraft([
        ("alg", .text(CurveIdentifiers(signer.key.curve).jws)), ("iat", day.edited ?? .null),
        ("x5t#S256", .text(Base64.encodeURLSafe(HashAlgorithm.sha256.hash(chain[0])))),
        ("x5c", .array(chain.map { .text(Base64.encode($0)) })),
      ])
    case .vical:
      header = COSESign1Draft(payload: [], isDetached: false, key: signer.key).protected
      unprotected[Label.x5chain] = try signer.x5chain()
    case .status, .identifiers, .crl:
      header = COSESign1Draft(payload: [], isDetached: false, key: signer.key).protected
      header[Label.type] = .text(isJWT ? "statuslist+jwt" : kind.mediaType)
      carriesChain = true
    }
  }

  private mutating func sign() throws {
    let addsChain = carriesChain && unprotected[Label.x5chain] == nil
    if isCompact {
      let members = isJWT ? try jwtHeader(withChain: addsChain) : try JSON(edited: header.value)
      let header = members.serialized()
      signingInput = Array("\(Base64.encodeURLSafe(header)).\(Base64.encodeURLSafe(payload))".utf8)
      let signature = try signer.key.sign(signingInput + alsoSigned)
      parts = [.bytes(header), .bytes(payload), .bytes(signature)]
    } else {
      var draft = COSESign1Draft(payload: payload, isDetached: false, key: signer.key)
      draft.protected = header
      if addsChain { draft.protected[Label.x5chain] = try signer.x5chain() }
      draft.unprotected = unprotected
      parts = try draft.parts()
    }
  }

  private func jwtHeader(withChain addsChain: Bool) throws -> JSON {
    let chain = try signer.chain().map { JSON.string(Base64.encode($0)) }
    return .members([
      "alg": .string(CurveIdentifiers(signer.key.curve).jws),
      "typ": try header[Label.type].map { try JSON(edited: $0) }, "x5c": addsChain ? .array(chain) : nil,
    ])
  }

  /// The served bytes: a compact JWS or a COSE_Sign1. The COSE_Sign1 is untagged in a VICAL and otherwise tagged.
  private var joined: [UInt8] {
    guard isCompact else { return (kind == .vical ? [] : [0xd2]) + CBORValue.array(parts).encoded() }
    let texts = parts.map { part in if case .bytes(let bytes) = part { Base64.encodeURLSafe(bytes) } else { "" } }
    return Array(texts.joined(separator: ".").utf8)
  }
}

/// Packs entries of `bits` bits into a zlib stream, the first entry in the lowest bits (Token Status List, 4.1).
func packedStatuses(_ entries: [UInt8], bits: Int) throws -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: (entries.count * bits + 7) / 8)
  for (index, entry) in entries.enumerated() {
    bytes[index * bits / 8] |= entry << UInt8(index * bits % 8)
  }
  return try Deflation.deflate(bytes)
}

extension CBORValue {
  /// A text in English, in the form of lists of trusted entities.
  fileprivate static func english(_ text: String) -> CBORValue { [["lang": "en", "value": .text(text)]] }

  fileprivate var elements: [CBORValue] { if case .array(let elements) = self { elements } else { [] } }
}
