import Base
import Mdoc
import Mock

extension Corpus {
  /// Every circumstance of the mock authority in which it is asked whether a document is still good.
  static var revocation: [CorpusCase] {
    MockRevocationCase.all.map { made in
      var vector = CorpusCase(made.variant, group: "revocation", form: .proximity)
      vector.policy.revocation = RevocationPolicy(made.policy)
      vector.policy.allowsJWTStatusLists = made.allowsJWT
      vector.publish = made.publications
      if made.allowsPlainHTTP { vector.anchors = [CorpusMaker.plainHTTPAnchor] }
      if made.keepsCRLsToHTTPS { vector.anchors = [CorpusMaker.httpsAnchor] }
      if made.codes.isEmpty, made.warnings.isEmpty { vector.reference = "ISO/IEC 18013-5:2021, 9.3.3" }
      return vector
    }
  }

  /// A document signer that is itself the anchor.
  static var pinnedSigners: [CorpusCase] {
    [
      .make("signer-pinned", group: "chains", "The signer itself is trusted, and no authority is.") {
        $0.anchors = [CorpusMaker.pinnedSigner]
        $0.features = ["pinned-signers"]
      },
      .make(
        "signer-pinned-other", group: "chains",
        "The signer that is trusted has another certificate, of the same name and key.", cases: "T02",
        codes: [.issuerUnknown], variant: .named("anchor-self-signature") ?? .good
      ) {
        $0.anchors = [CorpusMaker.pinnedSigner]
        $0.features = ["pinned-signers"]
      },
    ]
  }

  /// Right documents, judged by what a list of anchors makes trusted.
  static var underLists: [CorpusCase] {
    let listed: [(name: String, summary: String, cases: String, codes: [Code])] = [
      ("vical-good", "The issuer is trusted because a VICAL lists it.", "", []),
      (
        "vical-doc-type-lacking", "The VICAL lists the issuer for another document type alone.", "V04",
        [.issuerNotTrustedForDocType]
      ),
      (
        "vical-entry-other-identifier", "The issuer's entry in the VICAL contradicts its certificate.", "",
        [.issuerUnknown]
      ),
      ("vical-bad-signature", "The VICAL that lists the issuer is not its provider's.", "V01", [.trustStoreEmpty]),
      ("lote", "The issuer is trusted because a list of trusted entities has it.", "", []),
      ("lote-direct-trust", "The signer itself is on a list of trusted entities.", "", []),
      ("lote-withdrawn", "The issuer's service on the list is withdrawn.", "", [.trustStoreEmpty]),
      ("lote-bad-signature", "The list of trusted entities is not its operator's.", "V01", [.trustStoreEmpty]),
    ]
    return listed.compactMap { listed in
      guard let list = ListCase.all.first(where: { $0.id == listed.name }) else { return nil }
      return .make(
        "document-\(listed.name)", group: "lists", listed.summary, cases: listed.cases, codes: listed.codes
      ) {
        $0.anchors = []
        $0.anchorList = list
        if listed.codes.isEmpty { $0.reference = list.clause }
      }
    }
  }
}

extension RevocationPolicy {
  init(_ policy: MockRevocationCase.Policy) {
    self =
      switch policy {
      case .requireGood: .requireGood
      case .allowUndetermined: .allowUndetermined
      case .off: .off
      }
  }
}

extension VectorPublication {
  init(_ made: MockPublication) {
    let answer: Answer =
      switch made.answer {
      case .list(let bytes, let mediaType): .list(VectorInput(describing: bytes), mediaType: mediaType)
      case .fault(.unavailable): .fault(.unavailable)
      case .fault(.tooLarge): .fault(.tooLarge)
      }
    self.init(address: made.address, answer: answer)
  }
}
