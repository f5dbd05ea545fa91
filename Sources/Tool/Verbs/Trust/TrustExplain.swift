import Base
import CBOR
import COSE
import Mdoc
import PKIX

enum TrustExplain {
  static let command = Command(
    "explain", "explain for each anchor whether a document's signer chains to it",
    options: [.trust, .response, .chain, .docType, .at, .clockSkew, .json],
    notes: [
      "The document is not verified: neither its signature, digests and holder, nor that the certificates belong to "
        + "it. Use mdoc verify for that. Decrypt encrypted responses first.",
      "Exit status: 0 every chain leads to an anchor and passes every check, 1 a chain does not, 64 usage, 65 a file "
        + "cannot be read.",
    ],
    examples: [
      .init("Explain an unknown issuer", "mdoc trust explain --trust anchors/ --response response.cbor"),
      .init(
        "Check a signer's certificate for another document type",
        """
        mdoc trust explain --trust anchors/ --chain signer.pem \\
          --doc-type org.iso.7367.1.mVRC
        """),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let skew = try arguments.clockSkew()
    let store = try arguments.trustStore()
    let chains = try chains(arguments)
    let explanations = chains.map {
      store.validator.explain(chain: $0.certificates, docType: $0.docType, at: now, skew: skew)
    }
    let report: [Report] = [
      .members(["verified": false, "at": now, "trust_snapshot": store.snapshot]),
      .list("chains", zip(chains, explanations).map { self.report($0, $1, at: now) }),
      .section([
        .paragraph(
          .caution("NO PART OF A DOCUMENT IS VERIFIED HERE"),
          "  this only shows which anchors the certificates lead to; mdoc verify verifies.", lead: "", hanging: 4)
      ]),
    ]
    arguments.print(report)
    return explanations.allSatisfy(\.evaluation.isTrusted) ? .done : .rejected
  }

  private static func chains(_ arguments: Arguments) throws(Failure) -> [PresentedChain] {
    let docType = arguments.value(.docType)
    return switch (arguments.value(.response), arguments.value(.chain)) {
    case (let response?, nil): try PresentedChain.inResponse(response, judgedAs: docType)
    case (nil, let chain?): [try PresentedChain.inFile(chain, judgedAs: docType)]
    default: throw .usage("one of --response and --chain is required")
    }
  }

  // MARK: Output

  private static func report(_ chain: PresentedChain, _ explanation: PathExplanation, at now: Timestamp) -> [Report] {
    let evaluation = explanation.evaluation
    let signers = explanation.chain.enumerated().map { index, certificate in
      Report.row(index == 0 ? "Signer" : "Then", "\(certificate.subject.text), \(certificate.fingerprint)")
    }
    return [
      .line(.bold(chain.source)), .text(headline(evaluation), lead: ["  "]), .member("source", chain.source),
      .row("Document type", chain.docType, as: "doc_type"),
      .members([
        "trusted": evaluation.isTrusted, "chain": explanation.chain,
        "anchor": evaluation.anchor?.certificate.fingerprint, "path": evaluation.path.map(\.fingerprint),
      ]),
    ] + signers + [
      explanation.chain.last.map { .row("Issued by", $0.isSelfSigned ? nil : $0.issuer.text) }
        ?? .row("Signer", "no certificate could be read"),
      .listed("Checks of the path", evaluation.checks), .member("anchors", explanation.candidates.map(json)),
      .section([.line(.bold("Anchors"))] + explanation.candidates.flatMap { text($0, at: now) }),
    ]
  }

  private static func headline(_ evaluation: PathEvaluation) -> [Span] {
    guard let anchor = evaluation.anchor else {
      return [.bad("NO ANCHOR"), "  the chain leads to no trusted anchor"]
    }
    let name = anchor.certificate.subject.text
    return evaluation.isTrusted
      ? [.good("CHAINS"), "  to \(name)"] : [.bad("NOT ACCEPTED"), "  it leads to \(name), but a check fails"]
  }

  private static func json(_ candidate: PathExplanation.Candidate) -> JSON {
    .of([
      "subject": candidate.anchor.certificate.subject.text, "sha256": candidate.anchor.certificate.fingerprint,
      "source": candidate.anchor.source, "chosen": candidate.isChosen,
      "reasons": candidate.obstacles.map { JSON.of(["name": $0.name, "summary": $0.summary]) },
    ])
  }

  private static func text(_ candidate: PathExplanation.Candidate, at now: Timestamp) -> [Report] {
    let anchor = candidate.anchor
    let types = anchor.docTypes?.joined(separator: ", ") ?? "any document type (not configured)"
    let reasons =
      candidate.obstacles.isEmpty
      ? [
        ("Yes", candidate.isChosen ? "the path ends here" : "the path could also end here; another anchor has priority")
      ]
      : candidate.obstacles.map { (candidate.isChosen ? "But" : "No", "\($0.name): \($0.summary)") }
    return [
      .line("  ", .bold(anchor.certificate.subject.text)),
      .table([("Source", anchor.source)] + anchor.certificate.rows(at: now) + [("For", types)] + reasons, indent: 4),
    ]
  }
}

extension Option {
  fileprivate static let response = Option("response", "FILE", "a DeviceResponse, decrypted")
  fileprivate static let chain = Option(
    "chain", "FILE", "a document signer's certificate, followed by the rest of its chain")
  fileprivate static let docType = Option(
    "doc-type", "TYPE", "the document type to check for (default: the document's own; for --chain the mDL)")
}

/// The presented chain of a document signer, unverified.
struct PresentedChain: Sendable {
  /// The display text for the file or the document.
  let source: String
  let docType: String
  /// The certificates in DER, the signer's first.
  let certificates: [ArraySlice<UInt8>]

  /// The chains of all documents of a DeviceResponse.
  static func inResponse(_ path: String, judgedAs docType: String?) throws(Failure) -> [PresentedChain] {
    let bytes = try WireBytes.response(at: path)
    guard let response = try? CBORItem(parsing: bytes), let documents = response[key: "documents"]?.elements else {
      throw .unreadable("response \(path): must be a DeviceResponse with documents")
    }
    let chains = documents.enumerated().map { index, document in
      PresentedChain(
        source: "document \(index + 1)", docType: docType ?? document[key: "docType"]?.text ?? DocType.mDL,
        certificates: signerChain(document))
    }
    guard !chains.isEmpty else { throw .unreadable("response \(path): holds no document") }
    return chains
  }

  /// The chain in a file, the document signer's certificate first.
  static func inFile(_ path: String, judgedAs docType: String?) throws(Failure) -> PresentedChain {
    PresentedChain(
      source: path, docType: docType ?? DocType.mDL,
      certificates: try FoundCertificate.certificates(in: [path]).map { $0.der[...] })
  }

  private static func signerChain(_ document: CBORItem) -> [ArraySlice<UInt8>] {
    guard let item = document[key: "issuerSigned"]?[key: "issuerAuth"] else { return [] }
    let message = (try? COSESign1(parsing: item)) ?? (try? COSESign1(parsing: item, tag: COSESign1.tag))
    return message?.headers.x5chain ?? []
  }
}
