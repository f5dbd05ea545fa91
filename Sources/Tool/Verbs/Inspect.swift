import Base
import CBOR
import Cryptography
import Mdoc
import PKIX

/// `mdoc inspect`: shows any CBOR in diagnostic notation, or the transcript of a session.
enum InspectCommand {
  static let command = Command(
    "inspect", "show any CBOR in diagnostic notation, with personal values elided, or a session's transcript",
    options: [.showValues] + InspectSession.options + [.json],
    operand: Operand(
      placeholder: "FILE", help: "a file of CBOR: raw, hexadecimal or base64; none with --session", isOptional: true),
    notes: [
      "The zero-knowledge proofs of a DeviceResponse are listed below it: document type, circuit, time, names of elements, "
        + "chain and length. Nothing is verified.",
      InspectSession.note,
      "Exit status: 0 shown, 1 the file holds no well-formed CBOR or is not the session's answer, 64 usage, 65 a file "
        + "cannot be read.",
    ],
    examples: [
      .init("The structure of a response", "mdoc inspect response.cbor"),
      .init("With all values, the person's included", "mdoc inspect response.cbor --show-values"),
      .init(
        "What an in-app answer is to be made over, to compare",
        """
        mdoc inspect --session apple-in-app --nonce "$NONCE" \\
          --merchant-id merchant.example.shop --team-id ABCDE12345 \\
          --key merchant.pem --envelope answer.b64
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    if arguments.has(.session) { return try InspectSession.run(arguments, console) }
    if let other = InspectSession.options.first(where: arguments.has) {
      throw .usage("--\(other.name) goes with --session")
    }
    guard let path = arguments.operand else { throw .usage("FILE is required, or --session") }
    let file = WireBytes(try FileAccess.readPrefix(path, purpose: "file"))
    let limits = CBORLimits(bytes: FileAccess.limit, items: 1 << 20, depth: 64)
    do throws(CBORError) {
      let item = try CBORItem(parsing: file.bytes, limits: limits)
      let notation = CBORDiagnostic(showsValues: arguments.has(.showValues)).describe(item)
      let certificates = EmbeddedCertificates.found(in: item)
      let proofs = EmbeddedProof.found(in: item)
      if arguments.has(.json) {
        console.print(json(file, error: nil, notation: notation, certificates, proofs))
      } else {
        let blocks = proofs.map { $0.text(width: console.width) } + certificates.map { $0.text(width: console.width) }
        console.print(([notation] + blocks).joined(separator: "\n\n"))
      }
      return .done
    } catch {
      if arguments.has(.json) { console.print(json(file, error: error, notation: nil, [], [])) }
      throw Failure(
        status: .rejected,
        message: "\(path): \(error.code.rawValue) at byte \(error.offset) of \(file.bytes.count) "
          + "(read as \(file.encoding.rawValue)): \(error.code.entry.summary)")
    }
  }

  private static func json(
    _ file: WireBytes, error: CBORError?, notation: String?, _ certificates: [EmbeddedCertificates],
    _ proofs: [EmbeddedProof]
  ) -> JSON {
    [
      "encoding": .string(file.encoding.rawValue), "bytes": .integer(Int64(file.bytes.count)),
      "diagnostic": notation.map { .string($0) } ?? .null, "certificates": .array(certificates.map(\.json)),
      "proofs": .array(proofs.map(\.json)),
      "error": error.map { ["code": .string($0.code.rawValue), "offset": .integer(Int64($0.offset))] } ?? .null,
    ]
  }
}

extension Option {
  static let showValues = Option(
    flag: "show-values", "show element values and byte strings too: they are personal")
}

/// A certificate inside inspected CBOR (`x5chain`, COSE header 33, and a proof's `msoX5chain`), summarised.
struct EmbeddedCertificates: Sendable {
  private let offset: Int
  private let certificate: Certificate

  /// All certificates in the item, in the order of the bytes.
  static func found(in item: CBORItem) -> [EmbeddedCertificates] {
    if let embedded = item.embedded { return found(in: embedded) }
    if let tag = item.tag, let content = item.content(ofTag: tag) { return found(in: content) }
    if let elements = item.elements { return elements.flatMap { found(in: $0) } }
    guard let entries = item.entries else { return [] }
    return entries.flatMap { key, value in
      key.integer == 33 || key.isText("msoX5chain") ? chain(value) : found(in: value)
    }
  }

  private static func chain(_ item: CBORItem) -> [EmbeddedCertificates] {
    let strings = item.elements.map { Array($0) } ?? [item]
    return strings.compactMap { string in
      guard let der = string.bytes, let certificate = try? Certificate(der: der) else { return nil }
      return EmbeddedCertificates(offset: string.startOffset, certificate: certificate)
    }
  }

  var json: JSON {
    [
      "offset": .integer(Int64(offset)), "subject": .string(certificate.subject.commonName ?? ""),
      "issuer": .string(certificate.issuer.commonName ?? ""), "sha256": .string(Hex.encode(certificate.sha256)),
      "not_before": .integer(certificate.validity.lowerBound.secondsSince1970),
      "not_after": .integer(certificate.validity.upperBound.secondsSince1970),
    ]
  }

  func text(width: Int) -> String {
    let rows = [
      ("Subject", certificate.subject.commonName ?? ""), ("Issuer", certificate.issuer.commonName ?? ""),
      ("SHA-256", Hex.encode(certificate.sha256)),
      ("Valid", "\(certificate.validity.lowerBound) to \(certificate.validity.upperBound)"),
    ]
    return "Certificate at byte \(offset)\n"
      + Wrapping.columns(rows.map { ($0.0, Printable.line($0.1)) }, width: width)
  }
}

/// A zero-knowledge proof of an inspected DeviceResponse (ISO/IEC 18013-5, second edition, ZkDocument), summarised. Names
/// of elements are shown, values are not.
struct EmbeddedProof: Sendable {
  private let offset: Int
  private let content: Result<ZkDocumentOutline, MdocParseError>

  /// Those of the response, in its order; none if the item is no response with proofs.
  static func found(in item: CBORItem) -> [EmbeddedProof] {
    (item[key: "zkDocuments"]?.elements.map { Array($0) } ?? []).map { proof in
      EmbeddedProof(
        offset: proof.startOffset,
        content: Result { () throws(MdocParseError) in try ZkDocumentOutline(parsing: proof) })
    }
  }

  /// Names of elements by namespace, in the order of the bytes.
  private static func names(_ proof: ZkDocumentOutline) -> [(namespace: String, identifiers: [String])] {
    var names: [(namespace: String, identifiers: [String])] = []
    for element in proof.elements {
      if names.last?.namespace != element.namespace { names.append((element.namespace, [])) }
      names[names.count - 1].identifiers.append(element.identifier)
    }
    return names
  }

  var json: JSON {
    switch content {
    case .success(let proof):
      [
        "offset": .integer(Int64(offset)), "doc_type": .string(proof.docType), "zk_system_id": .string(proof.label),
        "circuit": proof.circuit.map {
          ["version": .integer(Int64($0.version)), "elements": .integer(Int64($0.elements))]
        } ?? .null,
        "timestamp": .string(proof.timestamp),
        "namespaces": .array(
          Self.names(proof).map {
            ["namespace": .string($0.namespace), "elements": .array($0.identifiers.map { .string($0) })]
          }),
        "chain": .array(proof.chain.map { .string(Hex.encode(HashAlgorithm.sha256.hash($0))) }),
        "proof_bytes": .integer(Int64(proof.proofBytes)), "error": .null,
      ]
    case .failure(let error):
      [
        "offset": .integer(Int64(offset)),
        "error": ["code": .string(error.code.rawValue), "detail": error.detail.map { .string($0) } ?? .null],
      ]
    }
  }

  func text(width: Int) -> String {
    var rows: [(String, String)]
    switch content {
    case .success(let proof):
      let circuit = proof.circuit.map { "version \($0.version), \($0.elements) element\($0.elements == 1 ? "" : "s")" }
      rows = [
        ("Document type", proof.docType), ("System", proof.label), ("Circuit", circuit ?? "none that is known"),
        ("Time", proof.timestamp),
      ]
      rows += Self.names(proof).map { ("Elements", "\($0.namespace): " + $0.identifiers.joined(separator: ", ")) }
      rows += proof.chain.map { ("Chain, SHA-256", Hex.encode(HashAlgorithm.sha256.hash($0))) }
      rows.append(("Proof", "\(proof.proofBytes) bytes"))
    case .failure(let error):
      rows = [("Malformed", "\(error.code.rawValue)\(error.detail.map { ": " + $0 } ?? "")")]
    }
    return "Zero-knowledge proof at byte \(offset)\n"
      + Wrapping.columns(rows.map { ($0.0, Printable.line($0.1)) }, width: width)
  }
}
