import Base
import CBOR
import Compression
import Cryptography

/// The stages of making a published list, in order.
extension Stages {
  static let lists: [any AnyEditStage] = [signer, list, crl, signed, served, listBytes]

  /// A list's signer: key, certificate and chain.
  static let signer = EditStage<ListDraft>(
    "signer",
    certificate(\.signer.certificate, "certificate").merging(listReadings) { $1 }.merging([
      "further": .list(\.signer.further)
    ]) { $1 },
    [
      // The name of an authority (`ListDraft.issuers`).
      "under": { draft, arguments in
        draft.signer = try MockSigner(
          draft.kind.signerRole, authority: draft.authority, under: draft.issuer(arguments.text(0)), at: draft.now)
      },
      "selfSigned": { draft, _ in
        draft.signer.certificate.issuer = draft.signer.certificate.subject
        draft.signer.issuerKey = draft.signer.key
      },
      // The label of a wrong key.
      "key": { $0.signer.key = try $0.key($1.text(0)) },
      "issuerKey": { $0.signer.issuerKey = try $0.key($1.text(0)) },
      "root": { draft, _ in
        draft.signer.key = try draft.authority.certificateIssuer(.good).key
        draft.signer.certificate = try draft.authority.anchorTemplate(.good, at: draft.now)
      },
    ])

  /// The list's members, its entries, and a document's reference to it.
  static let list = EditStage<ListDraft>(
    "list",
    listReadings.merging([
      "": .at(\.members), "entries": .at(\.entries), "reference": .at(\.reference), "status": .at(\.otherStatus),
      "isWrapped": .at(\.isWrapped),
      "entry.notCA": .reading { try $0.entry(of: .notCA) }, "entry.signer": .reading { try $0.signerEntry() },
      "entry.terse": .reading { try $0.terseEntry() },
      "documentSigner": .reading { .bytes(try $0.documentSigner.chain()[0]) },
      "signerCertificate": .reading { .bytes(try $0.signer.chain()[0]) },
      "bomb": .reading { _ in .bytes(try bomb.get()) },
    ]) { $1 },
    [
      // Arguments: the document's status, the number of bits per entry, and the status of all other documents.
      "statuses": {
        try $0.setStatus(
          UInt8($1.integer(0)), bits: $1.integer(1), others: UInt8($1.values.count > 2 ? $1.integer(2) : 0))
      }
    ])

  /// A certificate revocation list.
  static let crl = EditStage<ListDraft>(
    "crl",
    [
      "now": .reading { $0.now.edited }, "thisUpdate": .at(\.crl.thisUpdate), "nextUpdate": .at(\.crl.nextUpdate),
      "issuer": .at(\.crl.issuer),
      "extensions": .extensions(\.crl.extensions),
      "version": EditPart(
        get: { $0.crl.version.map { .unsigned(UInt64($0)) } },
        set: { $0.crl.version = try Int64?(edited: $1).map { UInt8(clamping: $0) } }),
      // The algorithm identifier in the signed part.
      "algorithm": EditPart(
        get: { _ in nil },
        set: { $0.crl.namedAlgorithm = CertificateAlgorithm(oid: try String(edited: $1), hash: .sha1) }),
      "signature": .at(\.crl.signature),
      // Certificate serial numbers: the document signer's, its negative in two's complement, and the authority's.
      "signer": .reading { .bytes($0.signerNumber) }, "negative": .reading { .bytes($0.signerNumber.negated) },
      "authority": .reading { draft in
        let issuer = try draft.authority.certificateIssuer(.good)
        return .bytes(try draft.authority.anchorTemplate(.good, at: draft.now).serialNumber(signedBy: issuer.key))
      },
      "otherIssuer": .reading {
        .bytes(CertificateExtension.certificateIssuer($0.authority.name("mdoc Mock other authority")).value)
      },
    ],
    [
      // Arguments: a certificate's serial number, the entry's extensions and, optionally, the entry's date. The default
      // date is a day ago.
      "revoke": { draft, arguments in
        draft.crl.entries.append(
          .init(
            serialNumber: try arguments.bytes(0),
            date: arguments.values.count > 2 ? try arguments.time(2) : draft.now - Seconds.day,
            extensions: try [CertificateExtension](edited: arguments(1))))
      },
      "key": { $0.crl.key = try $0.key($1.text(0)) },
    ])

  /// The bytes that are signed, and the headers.
  static let signed = EditStage<ListDraft>(
    "signed",
    [
      "now": .reading { $0.now.edited }, "day": .reading { $0.day.edited },
      "payload": .at(\.payload), "header": .at(\.header), "unprotected": .at(\.unprotected),
      "alsoSigned": .at(\.alsoSigned), "carriesChain": .at(\.carriesChain),
      "chain": .reading { try $0.signer.x5chain() },
      // The algorithm of another curve, and the type of the other kind of token.
      "otherAlgorithm": .reading { draft in
        let other = CurveIdentifiers(draft.authority.issuerCurve == .p384 ? .p256 : .p384)
        return draft.kind == .trustedEntities ? .text(other.jws) : .integer(other.algorithm)
      },
      "otherType": .reading { .text(($0.kind == .status ? MockList.Kind.identifiers : .status).mediaType) },
    ])

  /// The parts of the signed structure.
  static let served = EditStage<ListDraft>(
    "served",
    [
      "payload": .at(\.parts, .element(2)),
      "signature": EditPart(get: { $0.parts.last }, set: { $0.parts[$0.parts.count - 1] = try CBORValue(edited: $1) }),
      // HMAC with the signer's public key as the secret.
      "mac": .reading { draft in
        let key = SecretBytes(copying: draft.signer.key.publicKey.encoded)
        return .bytes(HMAC.authenticate(draft.signingInput, key: key, hash: .sha256))
      },
      // The payload of the correct list.
      "rightPayload": .reading {
        .bytes(try ListDraft($0.kind, authority: $0.authority, at: $0.now).content())
      },
    ])

  static let listBytes = EditStage<ListDraft>("bytes", ["": .at(\.bytes), "members": .reading { $0.members.value }])

  /// The time, and the certificates of authorities.
  private static let listReadings: [String: EditPart<ListDraft>] = ListDraft.issuers.keys.reduce(
    into: ["now": .reading { $0.now.edited }, "day": .reading { $0.day.edited }]
  ) { parts, name in
    parts["root.\(name)"] = .reading { .bytes(try $0.root(name)) }
  }

  /// A compressed gigabyte of zeros. It is made only once, since compression takes seconds.
  private static let bomb = Result {
    try Deflation.deflate(repeating: [UInt8](repeating: 0, count: 1 << 20), count: 1 << 10)
  }
}

extension ListDraft {
  /// The authorities that certify the signers of lists.
  static let issuers: [String: @Sendable (MockAuthority) throws -> CertificateIssuer] = [
    "good": { try $0.certificateIssuer(.good) }, "pathLengthOne": { try $0.certificateIssuer(.pathLengthOne) },
    "vical": { try $0.vicalProvider() }, "vicalLookAlike": { try $0.vicalProvider(key: "vical look-alike") },
    "operatorLookAlike": { try $0.schemeOperator(key: "look-alike") },
    "other": { try $0.issuer("mdoc Mock other root", key: "vical other root") },
    // An authority only for status lists.
    "status": { try $0.issuer("mdoc Mock Status CA", key: "status list root") },
  ]

  fileprivate func issuer(_ name: String) throws -> CertificateIssuer {
    guard let issuer = Self.issuers[name] else { throw EditError("no authority is \(name)") }
    return try issuer(authority)
  }

  fileprivate func root(_ name: String) throws -> [UInt8] {
    let issuer = try issuer(name)
    guard name == "status" else { return try authority.rootCertificate(of: issuer, at: now) }
    return try authority.rootTemplate(issuer, (now - 30 * Seconds.day, now + 3_000 * Seconds.day))
      .signed(by: issuer.key)
  }

  fileprivate func key(_ label: String) throws -> PrivateKey {
    try authority.seed.key(label, on: authority.issuerCurve)
  }

  fileprivate var signerNumber: [UInt8] { signer.certificate.serialNumber(signedBy: signer.issuerKey) }
}

extension [UInt8] {
  /// The negative of a number, in two's complement.
  fileprivate var negated: [UInt8] {
    var bytes = map { ~$0 }
    for index in bytes.indices.reversed() {
      bytes[index] &+= 1
      if bytes[index] != 0 { break }
    }
    return bytes
  }
}
