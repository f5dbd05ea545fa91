import Base

/// The answering side of the harness, for our own verifier: a question in, a verdict out.
///
/// Question: a vector without `flags` and `expect`, the input in full, `anchors` with their certificates.
/// Answer: `{"verdict": "accepted"}`, or `{"verdict": "rejected", "codes": […]}`.
package enum HarnessHandler {
  /// - Throws: where the question is none.
  package static func answer(_ question: JSON) async throws(VectorFault) -> JSON {
    let vector = try TestVector(question: question)
    let judgement = await OwnVerifier(anchors: try SuiteAnchors(question: question)).judge(vector)
    return .members([
      "verdict": judgement.isAccepted ? "accepted" : "rejected",
      "codes": judgement.codes.map { .strings($0) }, "warnings": judgement.warnings.map { .strings($0) },
      "stage": judgement.stage.map { .string($0.rawValue) },
    ])
  }
}

extension Judgement {
  /// Reads another verifier's answer; nil where it says neither accepted nor rejected.
  package init?(harnessAnswer json: JSON) {
    guard let verdict = json["verdict"]?.string, ["accepted", "rejected"].contains(verdict) else { return nil }
    func strings(_ name: String) -> [String]? { json[name]?.array?.compactMap(\.string) }
    self.init(
      isAccepted: verdict == "accepted", codes: strings("codes"), warnings: strings("warnings"),
      stage: json["stage"]?.string.flatMap(VectorStage.init))
  }
}
