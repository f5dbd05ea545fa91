import Base
import CBOR
import Cryptography
import Mdoc
import PKIX
import Presentation

enum InspectCommand {
  static let command = Command(
    "inspect", "show any CBOR in diagnostic notation without personal values, or a session's transcript",
    options: [.showValues] + InspectSession.options + [.json],
    operand: Operand(
      placeholder: "FILE", help: "a CBOR file: raw, hexadecimal or base64; not with --session", isOptional: true),
    notes: [
      "The zero-knowledge proofs of a DeviceResponse are listed below it: document type, circuit, time, names of "
        + "elements, chain and length. Nothing is verified.", InspectSession.note,
      "Exit status: 0 shown, 1 the file holds no well-formed CBOR or is not the session's response, 64 usage, 65 a "
        + "file cannot be read.",
    ],
    examples: [
      .init("Show the structure of a response", "mdoc inspect response.cbor"),
      .init("Show all values, with personal data", "mdoc inspect response.cbor --show-values"),
      .init(
        "Show the transcript of an in-app response",
        """
        mdoc inspect --session apple-in-app --nonce "$NONCE" \\
          --merchant-id merchant.example.shop --team-id ABCDE12345 \\
          --key merchant.pem --envelope response.b64
        """),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    if arguments.has(.session) { return try InspectSession.run(arguments) }
    if let other = InspectSession.options.first(where: arguments.has) {
      throw .usage("--\(other.name) needs --session")
    }
    guard let path = arguments.operand else { throw .usage("FILE is required, or --session") }
    let file = WireBytes(try FileAccess.readPrefix(path, purpose: "file"))
    let input: Report = .members(["encoding": file.encoding.rawValue, "bytes": file.bytes.count])
    do throws(CBORError) {
      let item = try CBORItem(parsing: file.bytes, limits: .inspection)
      let notation = CBORDiagnostic(showsValues: arguments.has(.showValues)).describe(item)
      let certificates = EmbeddedCertificate.found(in: item)
      let proofs = EmbeddedProof.found(in: item)
      let content: Report = .members([
        "diagnostic": notation, "certificates": certificates, "proofs": proofs, "error": JSON.null,
      ])
      let blocks = proofs.map { Report.section($0.text) } + certificates.map { .section($0.text) }
      arguments.print([input, content, .verbatim(notation)] + blocks)
      return .done
    } catch {
      let content: Report = .members([
        "diagnostic": JSON.null, "certificates": [String](), "proofs": [String](),
        "error": JSON.of(["code": error.code.rawValue, "offset": error.offset]),
      ])
      if arguments.has(.json) { arguments.print([input, content]) }
      throw Failure(
        status: .rejected,
        message: "\(path): \(error.code.rawValue) at byte \(error.offset) of \(file.bytes.count) "
          + "(read as \(file.encoding.rawValue)): \(error.code.entry.summary)")
    }
  }
}

extension CBORLimits {
  /// The limits for input that is displayed but not verified.
  static let inspection = CBORLimits(bytes: FileAccess.limit, items: 1 << 20, depth: 64)
}

extension Option {
  static let showValues = Option(flag: "show-values", "also show element values and byte strings, which are personal")
}

/// A summary of a certificate inside inspected CBOR (`x5chain`, COSE header 33, or a proof's `msoX5chain`).
private struct EmbeddedCertificate: MemberValue {
  let offset: Int
  let certificate: Certificate

  /// All certificates in the item, in the order of the bytes.
  static func found(in item: CBORItem) -> [EmbeddedCertificate] {
    if let embedded = item.embedded { return found(in: embedded) }
    if let tag = item.tag, let content = item.content(ofTag: tag) { return found(in: content) }
    if let elements = item.elements { return elements.flatMap { found(in: $0) } }
    guard let entries = item.entries else { return [] }
    return entries.flatMap { key, value in
      key.integer == 33 || key.isText("msoX5chain") ? chain(value) : found(in: value)
    }
  }

  private static func chain(_ item: CBORItem) -> [EmbeddedCertificate] {
    let strings = item.elements.map { Array($0) } ?? [item]
    return strings.compactMap { string in
      guard let der = string.bytes, let certificate = try? Certificate(der: der) else { return nil }
      return EmbeddedCertificate(offset: string.startOffset, certificate: certificate)
    }
  }

  private var subject: String { certificate.subject.commonName ?? "" }
  private var issuer: String { certificate.issuer.commonName ?? "" }

  var json: JSON {
    .of([
      "offset": offset, "subject": subject, "issuer": issuer, "sha256": certificate.fingerprint,
      "not_before": certificate.validity.lowerBound, "not_after": certificate.validity.upperBound,
    ])
  }

  var text: [Report] {
    [
      .line("Certificate at byte \(offset)"), .row("Subject", subject), .row("Issuer", issuer),
      .row("SHA-256", certificate.fingerprint), .row("Valid", certificate.validityText()),
    ]
  }
}

/// A summary of a zero-knowledge proof in an inspected DeviceResponse (ISO/IEC 18013-5, second edition, ZkDocument).
/// The summary has the elements' names, but no values.
private struct EmbeddedProof: MemberValue {
  let offset: Int
  let content: Result<ZkDocument, MdocParseError>

  /// The response's proofs, in order; none if the item is not a response with proofs.
  static func found(in item: CBORItem) -> [EmbeddedProof] {
    (item[key: "zkDocuments"]?.elements.map { Array($0) } ?? []).map { proof in
      EmbeddedProof(
        offset: proof.startOffset,
        content: Result { () throws(MdocParseError) in try ZkDocument(parsing: proof) })
    }
  }

  /// Element identifiers by namespace, in the proof's order.
  private static func names(_ proof: ZkDocument) -> [(namespace: String, identifiers: [String])] {
    var names: [(namespace: String, identifiers: [String])] = []
    for element in proof.elements {
      let name = element.reference
      if names.last?.namespace != name.namespace { names.append((name.namespace, [])) }
      names[names.count - 1].identifiers.append(name.identifier)
    }
    return names
  }

  private static func chain(_ proof: ZkDocument) -> [String] {
    proof.chain.map { Hex.encode(HashAlgorithm.sha256.hash($0)) }
  }

  var json: JSON {
    switch content {
    case .success(let proof):
      .of([
        "offset": offset, "doc_type": proof.docType, "zk_system_id": proof.label,
        "circuit": proof.circuit.map { JSON.of(["version": Int($0.version), "elements": $0.elements]) },
        "timestamp": proof.timestamp,
        "namespaces": Self.names(proof).map { JSON.of(["namespace": $0.namespace, "elements": $0.identifiers]) },
        "chain": Self.chain(proof), "proof_bytes": proof.proof.count, "error": JSON.null,
      ])
    case .failure(let error):
      .of(["offset": offset, "error": JSON.of(["code": error.code.rawValue, "detail": error.detail])])
    }
  }

  var text: [Report] {
    let title = Report.line("Zero-knowledge proof at byte \(offset)")
    switch content {
    case .success(let proof):
      let circuit = proof.circuit.map { "version \($0.version), \(counted($0.elements, "element"))" }
      return [
        title, .row("Document type", proof.docType), .row("System", proof.label),
        .row("Circuit", circuit ?? "unknown"), .row("Time", proof.timestamp),
      ] + Self.names(proof).map { .row("Elements", "\($0.namespace): " + $0.identifiers.joined(separator: ", ")) }
        + Self.chain(proof).map { .row("Chain, SHA-256", $0) } + [.row("Proof", "\(proof.proof.count) bytes")]
    case .failure(let error):
      return [title, .row("Malformed", "\(error.code.rawValue)\(error.detail.map { ": " + $0 } ?? "")")]
    }
  }
}

/// `mdoc inspect --session`: shows a session's transcript and derived values byte for byte, for comparison with another
/// app or server. It shows no element of a response.
enum InspectSession {
  static let options: [Option] = [
    .session, .nonce.being(.optional), .merchantID.being(.optional), .teamID.being(.optional), .sessionKey,
    .sessionEnvelope,
  ]

  static let note =
    "--session takes --nonce, --merchant-id, --team-id and --key: the merchant's certificate or its private key; with "
    + "--envelope the private key. It prints sizes and hashes of the content that the response's signatures cover, but "
    + "no values: --show-values excludes --session."

  static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    guard arguments.operand == nil, !arguments.has(.showValues) else {
      throw .usage("--session takes neither FILE nor --show-values")
    }
    for option in [Option.nonce, .merchantID, .teamID, .sessionKey] where !arguments.has(option) {
      throw .usage("--\(option.name) is required with --session: \(option.help)")
    }
    let keyFile = try arguments.required(.sessionKey)
    let challenge = try arguments.appleChallenge()
    let inspection = AppleInspection(of: challenge, recipient: try KeyFile.publicKey(keyFile))
    var inputs: [SignatureInputs] = []
    if let file = arguments.value(.sessionEnvelope) {
      let key = try KeyFile.privateKey(keyFile)
      let envelope = try WireBytes.response(at: file)
      do throws(AppleInspectionError) {
        inputs = try inspection.signatureInputs(of: envelope, key: key)
      } catch {
        arguments.print(report(inspection, []))
        let detail = error.detail.map { ": \($0)" } ?? ""
        throw Failure(
          status: .rejected, message: "\(file): \(error.code.rawValue)\(detail): \(error.code.entry.summary)")
      }
    }
    arguments.print(report(inspection, inputs))
    return .done
  }

  private static func report(_ inspection: AppleInspection, _ inputs: [SignatureInputs]) -> [Report] {
    let transcript = inspection.transcript
    let (keyHash, infoHash) = (Hex.encode(inspection.recipientKeyHash), Hex.encode(inspection.infoHash))
    // Shows the values, since a transcript contains no personal data.
    let notation =
      (try? CBORItem(parsing: transcript.encoded)).map { CBORDiagnostic(showsValues: true).describe($0) } ?? ""
    var rows = [("pkRHash", keyHash), ("infoHash", infoHash)]
    for (index, input) in inputs.enumerated() {
      let document = inputs.count == 1 ? "" : ", document \(index + 1)"
      for (signer, input) in [("Issuer", input.issuer), ("Device", input.device)] {
        rows += [
          ("\(signer) Sig_structure\(document)", input.map { "\($0.count) bytes" } ?? "none"),
          ("  SHA-256", input.map { Hex.encode($0.sha256) } ?? "none"),
        ]
      }
    }
    return [
      .members([
        "transcript": JSON.of([
          "bytes": transcript.encoded.count, "hex": Hex.encode(transcript.encoded), "diagnostic": notation,
        ]), "pk_r_hash": keyHash, "info_hash": infoHash,
        "documents": inputs.map { JSON.members(["issuer": json($0.issuer), "device": json($0.device)]) },
      ]),
      .section([.line("SessionTranscript, \(transcript.encoded.count) bytes")]), .section([.verbatim(notation)]),
      .section([.verbatim(Hex.encode(transcript.encoded))]), .section([.table(rows)]),
    ]
  }

  private static func json(_ input: SignatureInputs.Input?) -> JSON? {
    input.map { .of(["bytes": $0.count, "sha256": Hex.encode($0.sha256)]) }
  }
}

extension Option {
  static let session = Option(
    "session", "PROTOCOL", "show the transcript of a session by this protocol", choices: ["apple-in-app"])
  fileprivate static let sessionKey = Option(
    "key", "FILE", "the merchant's certificate or private key: PEM, or a P-256 scalar in hexadecimal or base64url")
  fileprivate static let sessionEnvelope = Option(
    "envelope", "FILE", "a response: the bytes of PKIdentityDocument.encryptedData")
}
