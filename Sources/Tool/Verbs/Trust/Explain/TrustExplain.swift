import Base
import Mdoc
import PKIX

/// `mdoc trust explain`: which anchor a document would chain to, and why not the others.
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

/// One chain with what became of it.
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
