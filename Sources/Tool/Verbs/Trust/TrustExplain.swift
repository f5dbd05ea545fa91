import Base
import CBOR
import COSE
import Mdoc
import PKIX

/// `mdoc trust explain`: tells which anchor a document would chain to, and why not to the others.
enum TrustExplain {
  static let command = Command(
    "explain", "explain which anchor a document's signer chains to, and why not the others",
    options: [.trust, .response, .chain, .docType, .at, .clockSkew, .json],
    notes: [
      "Nothing of a document is verified here: not the signature over it, not its digests, not its holder, and not even "
        + "that the certificates belong to it. mdoc verify does that. Encrypted answers must be opened first.",
      "Exit status: 0 every chain leads to an anchor with no check failed, 1 one does not, 64 usage, 65 a file cannot be "
        + "read.",
    ],
    examples: [
      .init("Why is this document's issuer unknown?", "mdoc trust explain --trust anchors/ --response response.cbor"),
      .init(
        "A signer's certificate, for another document type",
        """
        mdoc trust explain --trust anchors/ --chain signer.pem \\
          --doc-type org.iso.7367.1.mVRC
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let skew = try arguments.clockSkew()
    let store = try TrustFiles.store(arguments.values(.trust))
    let explained = try chains(arguments).map { chain in
      let docType = arguments.value(.docType) ?? chain.docType ?? DocType.mDL
      return ExplainedChain(
        chain: chain, docType: docType,
        explanation: store.validator.explain(chain: chain.certificates, docType: docType, at: now, skew: skew), now: now
      )
    }
    if arguments.has(.json) {
      console.print([
        "verified": false, "at": .integer(now.secondsSince1970), "trust_snapshot": .string(store.snapshot),
        "chains": .array(explained.map(\.json)),
      ])
    } else {
      let text = ExplanationText(width: console.width, style: Style(isColored: console.isColored))
      console.print((explained.map(text.block) + [text.caution]).joined(separator: "\n\n"))
    }
    return explained.allSatisfy { $0.explanation.evaluation.isTrusted } ? .done : .rejected
  }

  private static func chains(_ arguments: ParsedArguments) throws(Failure) -> [PresentedChain] {
    switch (arguments.value(.response), arguments.value(.chain)) {
    case (let response?, nil): try PresentedChain.inResponse(response)
    case (nil, let chain?): [try PresentedChain.inFile(chain)]
    default: throw .usage("one of --response and --chain is required")
    }
  }
}

/// One chain and its explanation.
struct ExplainedChain: Sendable {
  let chain: PresentedChain
  let docType: String
  let explanation: PathExplanation
  let now: Timestamp

  var json: JSON {
    [
      "source": .string(chain.source), "doc_type": .string(docType),
      "trusted": .bool(explanation.evaluation.isTrusted),
      "chain": .array(explanation.chain.map(\.summaryJSON)),
      "anchor": explanation.evaluation.anchor.map { .string($0.certificate.fingerprint) } ?? .null,
      "path": .array(explanation.evaluation.path.map { .string($0.fingerprint) }),
      "checks": .array(explanation.evaluation.checks.map(\.json)),
      "anchors": .array(explanation.candidates.map(json)),
    ]
  }

  private func json(_ candidate: PathExplanation.Candidate) -> JSON {
    [
      "subject": .string(candidate.anchor.certificate.subject.text),
      "sha256": .string(candidate.anchor.certificate.fingerprint), "source": .string(candidate.anchor.source),
      "chosen": .bool(candidate.isChosen),
      "reasons": .array(
        candidate.obstacles.map { ["name": .string($0.name), "summary": .string($0.summary)] }),
    ]
  }
}

extension Option {
  fileprivate static let response = Option("response", "FILE", "a DeviceResponse, opened")
  fileprivate static let chain = Option(
    "chain", "FILE", "a document signer's certificate, and those that were sent with it after it")
  fileprivate static let docType = Option(
    "doc-type", "TYPE", "the document type to judge for (default: the document's own; for --chain the mDL)")
}

/// A document signer's chain as it was presented. Nothing about it is verified.
struct PresentedChain: Sendable {
  /// Where it was found, as text for people.
  let source: String
  /// The document type; nil if only certificates are given.
  let docType: String?
  /// The certificates in DER, the signer's first.
  let certificates: [ArraySlice<UInt8>]

  /// The chains of all documents of a DeviceResponse.
  static func inResponse(_ path: String) throws(Failure) -> [PresentedChain] {
    let bytes = try WireBytes.answer(at: path)
    guard let response = try? CBORItem(parsing: bytes), let documents = response[key: "documents"]?.elements else {
      throw .unreadable("response \(path): is no DeviceResponse with documents")
    }
    let chains = documents.enumerated().map { index, document in
      PresentedChain(
        source: "document \(index + 1)", docType: document[key: "docType"]?.text,
        certificates: signerChain(document))
    }
    guard !chains.isEmpty else { throw .unreadable("response \(path): holds no document") }
    return chains
  }

  /// The chain in a file, the document signer's certificate first.
  static func inFile(_ path: String) throws(Failure) -> PresentedChain {
    var certificates: [ArraySlice<UInt8>] = []
    for found in try FoundCertificate.inFile(path) {
      guard let certificate = found.certificate else {
        throw .unreadable("certificate \(found.source): \(found.fault)")
      }
      certificates.append(certificate.der[...])
    }
    return PresentedChain(source: path, docType: nil, certificates: certificates)
  }

  private static func signerChain(_ document: CBORItem) -> [ArraySlice<UInt8>] {
    guard let item = document[key: "issuerSigned"]?[key: "issuerAuth"] else { return [] }
    let message = (try? COSESign1(parsing: item)) ?? (try? COSESign1(parsing: item, tag: COSESign1.tag))
    return message?.headers.x5chain ?? []
  }
}

/// An explained chain as text for people.
struct ExplanationText: Sendable {
  let width: Int
  let style: Style

  /// The last line of every explanation.
  var caution: String {
    style("NOTHING OF A DOCUMENT IS VERIFIED HERE", .bold, .yellow) + "  "
      + Wrapping.wrap("it is only told where its signer's certificates lead. mdoc verify verifies.", width: width - 40)
  }

  func block(_ explained: ExplainedChain) -> String {
    let explanation = explained.explanation
    let names = explanation.chain.enumerated().map { index, certificate in
      (index == 0 ? "Signer" : "Then", "\(certificate.subject.text), \(certificate.fingerprint)")
    }
    let rows = [("Document type", explained.docType)] + names + issuer(explanation)
    return [
      style(Printable.line(explained.chain.source), .bold) + "\n  " + headline(explanation) + "\n" + columns(rows),
      ChecksText(width: width, style: style).block("Checks of the path", explanation.evaluation.checks),
      anchors(explanation, at: explained.now),
    ].joined(separator: "\n\n")
  }

  private func headline(_ explanation: PathExplanation) -> String {
    guard let anchor = explanation.evaluation.anchor else {
      return style("NO ANCHOR", .bold, .red) + "  the chain leads to none of those that are trusted"
    }
    let name = Printable.line(anchor.certificate.subject.text)
    return explanation.evaluation.isTrusted
      ? style("CHAINS", .bold, .green) + "  to \(name)"
      : style("NOT ACCEPTED", .bold, .red) + "  it leads to \(name), but a check fails"
  }

  private func issuer(_ explanation: PathExplanation) -> [(String, String)] {
    guard let last = explanation.chain.last else { return [("Signer", "no certificate could be read")] }
    return last.isSelfSigned ? [] : [("Issued by", last.issuer.text)]
  }

  private func anchors(_ explanation: PathExplanation, at now: Timestamp) -> String {
    let blocks = explanation.candidates.map { candidate -> String in
      let certificate = candidate.anchor.certificate
      let reasons =
        candidate.obstacles.isEmpty
        ? [("Yes", candidate.isChosen ? "the path ends here" : "it would do as well; the other comes first")]
        : candidate.obstacles.map { (candidate.isChosen ? "But" : "No", "\($0.name): \($0.summary)") }
      let types = [("For", candidate.anchor.docTypes?.joined(separator: ", ") ?? "any document type (not configured)")]
      return "  " + style(Printable.line(certificate.subject.text), .bold) + "\n"
        + columns([("Source", candidate.anchor.source)] + certificate.summaryRows(at: now) + types + reasons, indent: 4)
    }
    return ([style("Anchors", .bold)] + blocks).joined(separator: "\n")
  }

  private func columns(_ rows: [(String, String)], indent: Int = 2) -> String {
    Wrapping.columns(rows.map { (Printable.line($0.0), Printable.line($0.1)) }, indent: indent, width: width)
  }
}
