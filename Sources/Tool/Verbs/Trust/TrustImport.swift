import Base
import PKIX

/// `mdoc trust import`: writes the anchors of a verified list as files.
enum TrustImport {
  static let command = Command(
    "import", "verify a list and write its anchors as files that mdoc trusts",
    options: [
      .requiredSigner, .to, .services, .eku, .maxPathLength, .crlAddresses, .jwtStatusLists, .at, .json,
    ],
    operand: Operand(placeholder: "FILE", help: "a VICAL or a signed list of trusted entities"),
    notes: [
      "A list that is not accepted is refused with its codes, and nothing is written. Files that exist with other content "
        + "are never touched: the import then stops before it writes anything. All files are written, or none.",
      "Entries that can't be used are left out, counted and named. Authorities whose own certificates name only "
        + "revocation lists that will not be asked for are named, too: under require_good their documents are refused.",
      "The files are a copy of today's list: anchors that it drops later, and the list's own end, are not noticed. A "
        + "server that is to follow the list names it in its configuration. Rollback can't be noticed either: compare "
        + "the list's date with that of the last import.",
      "Exit status: 0 written, 1 the list is refused or makes nobody trusted, 64 usage, 65 a file cannot be read or "
        + "exists with other content.",
    ],
    examples: [
      .init("AAMVA's list", "mdoc trust import vical.cbor --signer-anchor aamva-root.pem --to anchors"),
      .init(
        "European driving licences",
        """
        SERVICE=http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance
        mdoc trust import mdl.jwt --signer-anchor operator.pem --to anchors \\
          --services $SERVICE=org.iso.18013.5.1.mDL --eku 1.3.130.2.0.0.1.2
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let path = arguments.operand ?? ""
    guard let file = ListFile(try FileAccess.read(path, purpose: "list")) else {
      throw .unreadable("list \(path): is no VICAL or list of trusted entities")
    }
    let use = try use(arguments, file)
    let judgement = file.judge(use, at: now)
    let anchors = judgement.anchors.map { anchor in
      var anchor = anchor
      anchor.allowsJWTStatusLists = arguments.has(.jwtStatusLists)
      return ImportedAnchor(anchor: anchor)
    }
    let output = Output(console: console, isJSON: arguments.has(.json))
    guard judgement.isAccepted, !anchors.isEmpty else {
      output.refuse(judgement)
      return .rejected
    }
    let folder = try arguments.required(.to)
    let written = try write(anchors, to: folder)
    output.report(anchors, written, folder, judgement)
    return .done
  }

  private static func use(_ arguments: ParsedArguments, _ file: ListFile) throws(Failure) -> ListFile.Use {
    var use = ListFile.Use(signers: try arguments.signerAnchors())
    for text in arguments.values(.services) {
      // The last equals sign separates: types are URIs, which may have an equals sign, but document types never have
      // one.
      guard let equals = text.lastIndex(of: "="), equals > text.startIndex, text.index(after: equals) < text.endIndex
      else { throw .usage("--services is TYPE=DOCTYPE, not \"\(text)\"") }
      use.services[String(text[..<equals]), default: []].append(String(text[text.index(after: equals)...]))
    }
    guard (file.format == .trustedEntities) == !use.services.isEmpty else {
      throw .usage(
        file.format == .vical
          ? "--services is for lists of trusted entities: a VICAL says itself what its entries issue"
          : "--services TYPE=DOCTYPE is required: a list of trusted entities does not name document types")
    }
    if let text = arguments.value(.crlAddresses) {
      guard let addresses = CRLAddresses(rawValue: text) else {
        throw .usage("--crl-addresses is named or https, not \"\(text)\"")
      }
      use.crlAddresses = addresses
    }
    if !arguments.values(.eku).isEmpty { use.extendedKeyUsages = Set(arguments.values(.eku)) }
    use.maxPathLength = Int(try arguments.integer(.maxPathLength, in: 0...8))
    return use
  }

  /// - Returns: how many files are new. The others exist already with the same bytes.
  private static func write(_ anchors: [ImportedAnchor], to folder: String) throws(Failure) -> Int {
    try FileAccess.makeFolder(folder)
    var missing: [(path: String, bytes: [UInt8])] = []
    for file in anchors.flatMap({ $0.files(in: folder) }) {
      guard FileAccess.exists(file.path) else {
        missing.append(file)
        continue
      }
      guard try FileAccess.readPrefix(file.path, purpose: "anchor") == file.bytes else {
        throw .unreadable("\(file.path): exists with other content, and nothing was written; move it away first")
      }
    }
    try FileAccess.writeAllNew(missing)
    return missing.count
  }

  private struct Output {
    let console: Console
    let isJSON: Bool

    func refuse(_ judgement: ListFile.Judgement) {
      let codes = judgement.checks.filter { $0.outcome == .failed }
      guard !isJSON else {
        console.print([
          "accepted": .bool(judgement.isAccepted), "anchors": [],
          "checks": .array(judgement.checks.map(\.json)),
        ])
        return
      }
      let style = Style(isColored: console.isColored)
      guard !codes.isEmpty else {
        console.print(
          style("NOTHING WRITTEN", .bold, .yellow)
            + "  the list is accepted, and none of its entries makes an anchor here")
        return
      }
      console.print(
        style("REFUSED", .bold, .red) + "  nothing was written: "
          + codes.map(\.code.rawValue).joined(separator: ", ") + "\n\n"
          + ChecksText(width: console.width, style: style).block("Checks of the list", judgement.checks))
    }

    func report(
      _ anchors: [ImportedAnchor], _ written: Int, _ folder: String, _ judgement: ListFile.Judgement
    ) {
      guard !isJSON else {
        console.print([
          "accepted": true, "folder": .string(folder), "files_written": .integer(Int64(written)),
          "entries_left_out": .integer(Int64(judgement.leftOut)),
          "signer_is_anchor": .bool(judgement.isSignedByItsAnchor),
          "valid_until": ShownFile.time(judgement.validUntil), "anchors": .array(anchors.map(\.json)),
          "checks": .array(judgement.checks.map(\.json)),
        ])
        return
      }
      let warnings = judgement.checks.filter { $0.outcome == .warning }
      let lines = anchors.flatMap { imported in
        ["  \(imported.name)  " + Printable.line((imported.anchor.docTypes ?? []).joined(separator: ", "))]
          + imported.anchor.unusableCRLs.map { "    revocation list: " + Printable.line($0.text) }
      }
      let leftOut = judgement.leftOut == 0 ? "" : ", \(judgement.leftOut) entries of the list left out (below)"
      let ownSigner =
        judgement.isSignedByItsAnchor
        ? "The list's anchor is \(judgement.ownAnchor). " : ""
      let until = judgement.validUntil.map { "The list counts until \($0); these files do not end with it. " } ?? ""
      let text =
        Printable.line(
          "\(folder): \(anchors.count == 1 ? "1 anchor" : "\(anchors.count) anchors"), \(written) new files\(leftOut)")
        + "\n" + lines.joined(separator: "\n") + "\n\n"
        + Wrapping.wrap(
          ownSigner + until + "Compare their SHA-256 on a second channel before you rely on them.", width: console.width
        )
      let checks = ChecksText(width: console.width, style: Style(isColored: console.isColored))
        .block("Deviations of the list", warnings)
      console.print([text, checks].filter { !$0.isEmpty }.joined(separator: "\n\n"))
    }
  }
}

extension Option {
  fileprivate static let requiredSigner = Option(
    Option.signerAnchor.name, "PEM", Option.signerAnchor.help, occurrence: .requiredRepeatable)
  static let to = Option(
    "to", "FOLDER", "where to write; made where it is missing", occurrence: .required)
  fileprivate static let services = Option(
    "services", "TYPE=DOCTYPE", "that services of this type (a URI) issue documents of that type",
    occurrence: .repeatable)
  fileprivate static let eku = Option(
    "eku", "OID", "an extended key usage that document signers must have one of (default: by document type)",
    occurrence: .repeatable)
  fileprivate static let crlAddresses = Option(
    "crl-addresses", "RULE",
    "where revocation lists may be asked for: \"named\", as certificates name them, or \"https\" alone",
    fallback: "named")
  fileprivate static let jwtStatusLists = Option(
    flag: "jwt-status-lists", "that status lists of their documents may also be JSON Web Tokens")
  fileprivate static let maxPathLength = Option(
    "max-path-length", "NUMBER", "certificates between a listed authority and a document signer", fallback: "0")
}

/// One anchor of a list, written as the two files that the trust loader reads.
struct ImportedAnchor: Sendable {
  let anchor: TrustAnchor

  /// The file name without ending. It has only letters, digits and hyphens, whatever the certificate says, and differs
  /// for different certificates.
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

  /// The settings file. It contains everything that the list and the caller said, so that no default applies.
  var settings: [UInt8] {
    let json: JSON = .members([
      "doc_types": .array((anchor.docTypes ?? []).map { .string($0) }),
      // Without this member, each document type has its own extended key usages.
      "ekus": anchor.extendedKeyUsages.map { .array($0.sorted().map { .string($0) }) },
      "max_path_length": .integer(anchor.kind == .authority ? Int64(anchor.maxPathLength) : 0),
      "crl_addresses": .string(anchor.crlAddresses.rawValue),
      "jwt_status_lists": anchor.allowsJWTStatusLists ? true : nil,
      "tier": .string(anchor.certificate.isForTests ? "test" : anchor.tier.rawValue),
      "kind": .string(anchor.kind.rawValue),
    ])
    return json.serialized(pretty: true) + [0x0a]
  }

  /// The files in the order in which they are written, settings first. Settings without their certificate stop the
  /// loader; a certificate without its settings would be trusted by the defaults.
  func files(in folder: String) -> [(path: String, bytes: [UInt8])] {
    let stem = (folder.hasSuffix("/") ? folder : folder + "/") + name
    return [(stem + ".json", settings), (stem + ".pem", certificate)]
  }

  var json: JSON {
    [
      "name": .string(name), "subject": .string(anchor.certificate.subject.text),
      "sha256": .string(anchor.certificate.fingerprint),
      "doc_types": .array((anchor.docTypes ?? []).map { .string($0) }),
      "expires_at": .integer(anchor.certificate.validity.upperBound.secondsSince1970),
      "unusable_crls": .array(anchor.unusableCRLs.map(\.json)),
    ]
  }
}
