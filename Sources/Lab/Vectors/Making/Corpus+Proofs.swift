import Base
import Longfellow
import Mock

/// Cases about zero-knowledge proofs. An answer has some 400 kilobytes: a wrong one is described by a right one's bytes
/// and what is other.
extension Corpus {
  static let proofGroup = "zero-knowledge"

  /// Right answers, and what else of the circumstances is wrong than the answer.
  static var proofs: [CorpusCase] {
    let ages = ("zk-good", MockRequest.proofOfAge)
    let denied = "zk-age-denied"
    return [
      proof("zk-good", "Nothing is wrong; a proof that the holder is 18.", request: ages.1),
      proof("zk-good-version-6", "Nothing is wrong; a proof by a circuit of version 6.", request: .proofOfAgeVersion6),
      proof("zk-good-two-elements", "Nothing is wrong; a proof of two elements.", request: .proofOfNames),
      proof(
        "zk-other-session", "The proof was made in another session.", cases: "Z48 Z49", codes: [.zkProofInvalid],
        request: ages.1, base: ages.0
      ) { $0.isOfAnotherSession = true },
      proof(
        "zk-not-asked-for", "A proof comes where none was asked for.", cases: "Z65", codes: [.zeroKnowledgeUnsupported],
        request: ages.1, base: ages.0
      ) { made in
        made.asksForProof = false
      },
      proof(
        "zk-plain-allowed", "A plain document comes where a proof is allowed and not required.", cases: "Z63",
        variant: .named("zk-plain-only") ?? .good, request: ages.1
      ) { made in
        made.request.documents = made.request.documents.map { document in
          var document = document
          document.requiresProof = false
          return document
        }
      },
      proof(
        "zk-status-required", "A good status is asked for, which a proof hides.", codes: [.zkStatusNotProvable],
        request: ages.1, base: ages.0
      ) { $0.policy.revocation = .requireGood },
      proof(
        "zk-anchor-unscoped", "The authority is trusted, but not for proofs.", codes: [.zkIssuerNotAllowed],
        request: ages.1, base: ages.0
      ) { $0.anchors = [CorpusMaker.unscopedAnchor] },
    ]
      + (MockVariant.groups.first { $0.name == proofGroup }?.variants ?? []).map { variant in
        var made = CorpusCase(variant, group: proofGroup, form: .proximity)
        made.base = variant.request.documents[0].ageOver.isEmpty ? "zk-good-two-elements" : ages.0
        if variant.name == denied { made.base = nil }
        return made
      } + [
        proof(
          "zk-minimum-age", "A minimum age of 21 is asked for, and it is proven that the holder is younger.",
          cases: "Z37", codes: [.ageBelowMinimum], variant: .named(denied) ?? .good,
          request: MockVariant.named(denied)?.request ?? .proofOfAge, base: denied
        ) { $0.minimumAge = 21 }
      ]
  }

  private static func proof(
    _ id: String, _ summary: String, cases: String = "", codes: [Code] = [], variant: MockVariant = .good,
    request: MockRequest, base: String? = nil, change: (inout CorpusCase) -> Void = { _ in }
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
