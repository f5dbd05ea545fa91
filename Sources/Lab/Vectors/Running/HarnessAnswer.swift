import Base
import Longfellow

/// Answers harness questions with our own verifier, over HTTP or line by line.
package struct HarnessHandler: Sendable {
  private let circuits: CircuitLibrary?

  package init(circuits: CircuitLibrary? = nil) { self.circuits = circuits }

  /// The answer to `SuiteAnchors.question(of:)`, or to `{"describe": {}}`.
  ///
  /// - Throws: `VectorFault` if the question is malformed.
  package func answer(_ question: JSON) async throws(VectorFault) -> JSON {
    if question["describe"] != nil { return description.json }
    let vector = try TestVector(question: question)
    let verifier = OwnVerifier(anchors: try SuiteAnchors(question: question), circuits: circuits)
    let judgement = await verifier.judge(vector)
    return .members([
      "id": .string(vector.id), "verdict": judgement.isAccepted ? "accepted" : "rejected",
      "codes": judgement.codes.map { .strings($0) }, "warnings": judgement.warnings.map { .strings($0) },
      "stage": judgement.stage.map { .string($0.rawValue) },
    ])
  }

  /// What our own harness says about itself.
  package var description: HarnessDescription {
    let profiles = VectorProfile.allCases.filter { $0 != .zeroKnowledge || circuits != nil }
    var description = HarnessDescription(name: "mdoc", version: ProgramVersion.text, profiles: profiles)
    description.language = "Swift"
    description.use = "MdocVerifier with the protocols of Presentation, and the rules of the case's policy."
    return description
  }
}

extension Judgement {
  /// Reads another verifier's answer.
  ///
  /// - Throws: `NoVerdict` if it says neither accepted nor rejected.
  package init(answer json: JSON) throws(VectorRunner.NoVerdict) {
    func strings(_ name: String) throws(VectorRunner.NoVerdict) -> [String]? {
      guard let value = json[name], value != .null else { return nil }
      guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
        throw .other("its \(name) are no array of texts")
      }
      return texts.compactMap { $0.map { HarnessDescription.line($0) } }
    }
    switch json["verdict"]?.string {
    case "unsupported":
      throw .unsupported(json["reason"]?.string.map { HarnessDescription.line($0) } ?? "the verifier does not claim it")
    case let verdict? where verdict == "accepted" || verdict == "rejected":
      self.init(
        isAccepted: verdict == "accepted", codes: try strings("codes"), warnings: try strings("warnings"),
        stage: json["stage"]?.string.flatMap(VectorStage.init))
      note = json["note"]?.string.map { HarnessDescription.line($0) }
    case "error": throw .other("the harness failed: \(HarnessDescription.line(json["reason"]?.string ?? ""))")
    default: throw .other("the harness's reply has no verdict")
    }
  }
}
