import Base
import Longfellow
import Mock
import Vectors

/// Cases about zero-knowledge proofs. An answer has some 400 kilobytes: a wrong one is described by a right one's bytes
/// and what is other.
extension Corpus {
  static let proofGroup = "zero-knowledge"

  /// The right answers by which most others are described, and the right denial.
  private static let good = "zk-good"
  private static let goodNames = "zk-good-two-elements"
  private static let denied = "zk-age-denied"

  /// In an order in which a base comes before what it describes.
  static var proofs: [CorpusCase] { rightProofs + proofCircumstances + proofVariants + [proofBelowMinimum] }

  private static var rightProofs: [CorpusCase] {
    [
      proof(good, "Nothing is wrong; a proof that the holder is 18."),
      proof("zk-good-version-6", "Nothing is wrong; a proof by a circuit of version 6.", request: .proofOfAgeVersion6),
      proof(goodNames, "Nothing is wrong; a proof of two elements.", request: .proofOfNames),
    ]
  }

  /// Right answers that were not asked for so, or that come elsewhere.
  private static var proofCircumstances: [CorpusCase] {
    [
      proof(
        "zk-other-session", "The proof was made in another session.", cases: "Z48 Z49", codes: [.zkProofInvalid],
        base: good
      ) { $0.isOfAnotherSession = true },
      proof(
        "zk-not-asked-for", "A proof comes where none was asked for.", cases: "Z65", codes: [.zeroKnowledgeUnsupported],
        base: good
      ) { $0.asksForProof = false },
      proof(
        "zk-plain-allowed", "A plain document comes where a proof is allowed and not required.", cases: "Z63",
        variant: .named("zk-plain-only") ?? .good
      ) { $0.request.documents[0].requiresProof = false },
      proof(
        "zk-status-required", "A good status is asked for, which a proof hides.", codes: [.zkStatusNotProvable],
        base: good
      ) { $0.policy.revocation = .requireGood },
      proof(
        "zk-anchor-unscoped", "The authority is trusted, but not for proofs.", codes: [.zkIssuerNotAllowed], base: good
      ) { $0.anchors = [CorpusMaker.unscopedAnchor] },
    ]
  }

  private static var proofVariants: [CorpusCase] {
    (MockVariant.groups.first { $0.name == proofGroup }?.variants ?? []).map { variant in
      var made = CorpusCase(variant, group: proofGroup, form: .proximity)
      let isOfAge = !variant.request.documents[0].ageOver.isEmpty
      made.base = variant.name == denied ? nil : isOfAge ? good : goodNames
      return made
    }
  }

  private static var proofBelowMinimum: CorpusCase {
    let variant = MockVariant.named(denied) ?? .good
    return proof(
      "zk-minimum-age", "A minimum age of 21 is asked for, and it is proven that the holder is younger.", cases: "Z37",
      codes: [.ageBelowMinimum], variant: variant, request: variant.request, base: denied
    ) { $0.minimumAge = 21 }
  }

  private static func proof(
    _ id: String, _ summary: String, cases: String = "", codes: [Code] = [], variant: MockVariant = .good,
    request: MockRequest = .proofOfAge, base: String? = nil, change: (inout CorpusCase) -> Void = { _ in }
  ) -> CorpusCase {
    .make(id, group: proofGroup, summary, cases: cases, codes: codes, variant: variant) {
      $0.request = request
      $0.base = base
      $0.reference = codes.isEmpty ? "longfellow-libzk-v1" : nil
      change(&$0)
    }
  }
}

extension MockRequest {
  /// `proofOfAge`, for which only a circuit of version 6 is welcome.
  fileprivate static var proofOfAgeVersion6: MockRequest {
    var request = MockRequest.proofOfAge
    request.documents[0].circuits = KnownCircuit.all.filter { $0.version == 6 && $0.elements == 1 }
    return request
  }
}

extension CorpusMaker {
  /// The vectors with proofs. A base comes before those that it describes.
  func proofFiles() throws -> [(path: String, content: [UInt8])] {
    var bases: [String: [UInt8]] = [:]
    return try Corpus.proofs.map { made in
      var vector = try vector(made)
      if let base = made.base, let bytes = bases[base] {
        vector.input = VectorInput(describing: vector.input.bytes, by: bytes, of: base)
      } else if made.base == nil {
        bases[made.id] = vector.input.bytes
      }
      return ("\(made.group)/\(made.id).json", vector.fileContent)
    }
  }
}
