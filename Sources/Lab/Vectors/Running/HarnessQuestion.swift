import Base
import Cryptography
import Longfellow
import Sessions

/// A question to another verifier: the response and its circumstances, without hints about the verdict.
extension TestVector {
  /// The id in a question: 16 hexadecimal digits of a hash of `id`, the same in every run.
  package var askedID: String { Hex.encode(HashAlgorithm.sha256.hash(Array("mdoc vector/\(id)".utf8)).prefix(8)) }

  /// - Parameter anchors: `[{"name", "certificate", "settings"}]`.
  func question(anchors: [JSON]) -> JSON {
    .object(
      [JSON.Member("id", .string(askedID))] + (circumstances.object ?? [])
        + [JSON.Member("anchors", .array(anchors)), JSON.Member("input", .bytes(input.bytes))])
  }

  /// Reads a question. The expectation and the members about the vector itself may be absent.
  package init(question: JSON) throws(VectorError) {
    let absent: [JSON.Member] = [
      .init("description", "A question."), .init("reference", "None"), .init("cases", []),
      .init("flags", [VectorFlag.shape.write(VectorFlag("Question", .interoperability))]), .init("importance", "must"),
      .init("features", []), .init("expect", ["stage": "accepted", "codes": []]),
    ]
    try self.init(json: .object((question.object ?? []) + absent.filter { question[$0.name] == nil }))
  }
}

extension SuiteAnchors {
  /// The question to another verifier. Its anchors have numbers instead of names, since the file names reveal the
  /// anchors' faults.
  package func question(of vector: TestVector) -> JSON {
    let names = vector.namedAnchors.unique
    let aliases = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, "anchor-\($0 + 1)") })
    var asked = vector
    asked.trustAnchors = vector.trustAnchors.compactMap { aliases[$0] }
    asked.anchorList?.signers = vector.anchorList?.signers.compactMap { aliases[$0] } ?? []
    // Keep the id: only its hash is sent.
    return asked.question(anchors: names.flatMap { name in json(of: name, calledBy: aliases[name] ?? name) })
  }
}

/// Judges harness questions with our own verifier.
package struct HarnessHandler: Sendable {
  private let circuits: CircuitLibrary?

  package init(circuits: CircuitLibrary? = nil) { self.circuits = circuits }

  /// The reply to `SuiteAnchors.question(of:)` or to `{"describe": {}}`.
  package func reply(to question: JSON) async throws(VectorError) -> JSON {
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

  /// Our own harness's description of itself.
  package var description: HarnessDescription {
    let profiles = VectorProfile.allCases.filter { $0 != .zeroKnowledge || circuits != nil }
    var description = HarnessDescription(name: "mdoc", version: ProgramVersion.text, profiles: profiles)
    description.language = "Swift"
    description.use = "MdocVerifier with the protocols of Presentation, and the rules of the case's policy."
    return description
  }
}

extension Judgement {
  /// Reads another verifier's reply.
  package init(reply json: JSON) throws(VerdictError) {
    func strings(_ name: String) throws(VerdictError) -> [String]? {
      guard let value = json[name], value != .null else { return nil }
      guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
        throw .other("its \(name) must be an array of strings")
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
