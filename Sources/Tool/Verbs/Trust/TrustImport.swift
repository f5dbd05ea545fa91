import Base
import PKIX

enum TrustImport {
  static let command = Command(
    "import", "verify a list and write its anchors as files that mdoc trusts",
    options: [
      .signerAnchor.being(.requiredRepeatable), .to, .services, .eku, .maxPathLength, .crlAddresses, .jwtStatusLists,
      .at, .json,
    ],
    operand: Operand(placeholder: "FILE", help: "a VICAL or a signed list of trusted entities"),
    notes: [
      "A rejected list writes nothing; the output has the codes. If a file exists with other content, nothing is "
        + "written. Either all files are written or none.",
      "Unusable entries are omitted, counted and listed. The output also lists authorities whose certificates "
        + "contain only forbidden revocation addresses: `require_good` rejects their documents.",
      "The files are a copy of today's list: they neither follow later changes nor expire with the list. To follow a "
        + "list, name it in the server's configuration. A rollback is not detected: compare the list's date with the "
        + "previous import's.",
      "Exit status: 0 written, 1 the list is rejected or gives no anchor, 64 usage, 65 a file cannot be read or "
        + "exists with other content.",
    ],
    examples: [
      .init("Import AAMVA's list", "mdoc trust import vical.cbor --signer-anchor aamva-root.pem --to anchors"),
      .init(
        "Import the authorities of European driving licences",
        """
        SERVICE=http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance
        mdoc trust import mdl.jwt --signer-anchor operator.pem --to anchors \\
          --services $SERVICE=org.iso.18013.5.1.mDL --eku 1.3.130.2.0.0.1.2
        """),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let path = arguments.operand ?? ""
    guard let file = ListFile(try FileAccess.read(path, purpose: "list")) else {
      throw .unreadable("list \(path): must be a VICAL or a list of trusted entities")
    }
    let use = try use(arguments, file)
    let judgement = file.judge(use, at: now)
    let anchors = judgement.anchors.map { anchor in
      var anchor = anchor
      anchor.allowsJWTStatusLists = arguments.has(.jwtStatusLists)
      return ImportedAnchor(anchor: anchor)
    }
    guard judgement.isAccepted, !anchors.isEmpty else {
      arguments.print(refusal(judgement))
      return .rejected
    }
    let folder = try arguments.required(.to)
    let written = try write(anchors, to: folder)
    arguments.print(report(anchors, written, folder, judgement))
    return .done
  }

  private static func use(_ arguments: Arguments, _ file: ListFile) throws(Failure) -> ListFile.Use {
    var use = ListFile.Use(signers: try FoundCertificate.certificates(in: arguments.values(.signerAnchor)))
    for text in arguments.values(.services) {
      let (type, docType) = try Arguments.pair(text, of: .services)
      use.services[type, default: []].append(docType)
    }
    guard (file.format == .trustedEntities) == !use.services.isEmpty else {
      throw .usage(
        file.format == .vical
          ? "--services is only for lists of trusted entities: a VICAL states its entries' document types"
          : "--services TYPE=DOCTYPE is required: a list of trusted entities does not state document types")
    }
    let text = try arguments.required(.crlAddresses)
    guard let addresses = CRLAddresses(rawValue: text) else {
      throw .usage("--crl-addresses must be named or https, not \"\(text)\"")
    }
    use.crlAddresses = addresses
    if !arguments.values(.eku).isEmpty { use.extendedKeyUsages = Set(arguments.values(.eku)) }
    use.maxPathLength = Int(try arguments.integer(.maxPathLength, in: 0...8))
    return use
  }

  /// - Returns: the number of new files. The other files already exist with the same bytes.
  private static func write(_ anchors: [ImportedAnchor], to folder: String) throws(Failure) -> Int {
    try FileAccess.makeFolder(folder)
    var missing: [(path: String, bytes: [UInt8])] = []
    for file in anchors.flatMap({ $0.files(in: folder) }) {
      guard FileAccess.exists(file.path) else {
        missing.append(file)
        continue
      }
      guard try FileAccess.readPrefix(file.path, purpose: "anchor") == file.bytes else {
        throw .unreadable("\(file.path): exists with other content; move it away first (nothing was written)")
      }
    }
    try FileAccess.writeAllNew(missing)
    return missing.count
  }

  private static func refusal(_ judgement: ListFile.Judgement) -> [Report] {
    let codes = judgement.checks.filter { $0.outcome == .failed }.map(\.code.rawValue)
    let text: [Report] =
      codes.isEmpty
      ? [.line(.caution("NOTHING WRITTEN"), "  the list is accepted, but none of its entries gives an anchor")]
      : [
        .line(.bad("REFUSED"), "  nothing was written: \(codes.joined(separator: ", "))"),
        .listed("Checks of the list", judgement.checks, as: nil),
      ]
    return [.members(["accepted": judgement.isAccepted, "anchors": [String](), "checks": judgement.checks])] + text
  }

  private static func report(
    _ anchors: [ImportedAnchor], _ written: Int, _ folder: String, _ judgement: ListFile.Judgement
  ) -> [Report] {
    let leftOut = judgement.leftOut == 0 ? "" : ", \(judgement.leftOut) entries of the list left out (below)"
    let ownSigner = judgement.isSignedByItsAnchor ? "The list's anchor is \(judgement.ownAnchor). " : ""
    let until = judgement.validUntil.map { "The list expires at \($0); these files do not expire with it. " } ?? ""
    return [
      .members([
        "accepted": true, "folder": folder, "files_written": written, "entries_left_out": judgement.leftOut,
        "signer_is_anchor": judgement.isSignedByItsAnchor, "valid_until": judgement.validUntil, "anchors": anchors,
        "checks": judgement.checks,
      ]), .line("\(folder): \(counted(anchors.count, "anchor")), \(written) new files\(leftOut)"),
    ] + anchors.flatMap(\.lines) + [
      .section([
        .paragraph(
          "\(ownSigner)\(until)Compare their SHA-256 on a second channel before you rely on them.", lead: "")
      ]),
      .listed("Deviations of the list", judgement.checks.filter { $0.outcome == .warning }, as: nil),
    ]
  }
}

extension Option {
  static let to = Option(
    "to", "FOLDER", "the folder to write to, created if it is missing", occurrence: .required)
  fileprivate static let services = Option(
    "services", "TYPE=DOCTYPE", "trust services of TYPE (a URI) for documents of DOCTYPE",
    occurrence: .repeatable)
  fileprivate static let eku = Option(
    "eku", "OID", "an accepted extended key usage of document signers (default: by document type)",
    occurrence: .repeatable)
  fileprivate static let crlAddresses = Option(
    "crl-addresses", "RULE",
    "the allowed addresses of revocation lists: \"named\", as certificates name them, or only \"https\"",
    fallback: "named")
  fileprivate static let jwtStatusLists = Option(
    flag: "jwt-status-lists", "also accept status lists that are JSON Web Tokens")
  fileprivate static let maxPathLength = Option(
    "max-path-length", "NUMBER", "allowed certificates between a listed authority and a document signer", fallback: "0")
}

/// One anchor of a list, written as the two files that the trust loader reads.
struct ImportedAnchor: MemberValue {
  let anchor: TrustAnchor

  /// The file name without its ending. It differs for each certificate. It consists of letters, digits and hyphens.
  var name: String {
    let subject = anchor.certificate.subject
    let words = [subject.stateOrProvince, subject.commonName ?? subject.organization].compactMap { $0 }
    let letters = words.joined(separator: "-").lowercased().unicodeScalars.map { scalar -> Character in
      ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
    }
    let slug = String(letters).split(separator: "-").joined(separator: "-").prefix(48)
    return (slug.isEmpty ? "" : slug + "-") + anchor.certificate.fingerprint.prefix(12)
  }

  var certificate: [UInt8] { Array(PEM.encode(certificate: anchor.certificate.der).utf8) }

  /// The settings file. It contains all settings of the list and the caller, so that no default applies.
  var settings: [UInt8] {
    let json: JSON = .members([
      "doc_types": (anchor.docTypes ?? []).json,
      // Without this member, each document type's own extended key usages apply.
      "ekus": anchor.extendedKeyUsages?.sorted().json,
      "max_path_length": .integer(anchor.kind == .authority ? Int64(anchor.maxPathLength) : 0),
      "crl_addresses": .string(anchor.crlAddresses.rawValue),
      "jwt_status_lists": anchor.allowsJWTStatusLists ? true : nil,
      "tier": .string(anchor.certificate.isForTests ? "test" : anchor.tier.rawValue),
      "kind": .string(anchor.kind.rawValue),
    ])
    return json.fileContent
  }

  /// The files in writing order, settings first. Settings without their certificate stop the loader. A certificate
  /// without its settings gets the default trust.
  func files(in folder: String) -> [(path: String, bytes: [UInt8])] {
    let stem = (folder.hasSuffix("/") ? folder : folder + "/") + name
    return [(stem + ".json", settings), (stem + ".pem", certificate)]
  }

  var lines: [Report] {
    [.line("  \(name)  \((anchor.docTypes ?? []).joined(separator: ", "))")]
      + anchor.unusableCRLs.map { .line("    revocation list: \($0.text)") }
  }

  var json: JSON {
    .of([
      "name": name, "subject": anchor.certificate.subject.text, "sha256": anchor.certificate.fingerprint,
      "doc_types": anchor.docTypes ?? [], "expires_at": anchor.certificate.validity.upperBound,
      "unusable_crls": anchor.unusableCRLs,
    ])
  }
}
