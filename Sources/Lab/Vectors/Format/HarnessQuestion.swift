import Base
import Cryptography

/// What another verifier is asked: the answer and its circumstances, and nothing from which the verdict could be guessed.
extension TestVector {
  /// The id that a harness is told: 16 hexadecimal digits of a hash of `id`. It is the same in every run, so that a line
  /// of a harness's log can be looked up.
  package var askedID: String { Hex.encode(HashAlgorithm.sha256.hash(Array("mdoc vector/\(id)".utf8)).prefix(8)) }

  /// The question, with all bytes in full.
  ///
  /// - Parameter anchors: `[{"name", "certificate", "settings"}]`.
  func question(anchors: [JSON]) -> JSON {
    .object(
      [JSON.Member("id", .string(askedID))] + (circumstances(isInFull: true).object ?? [])
        + [JSON.Member("anchors", .array(anchors)), JSON.Member("input", .bytes(input.bytes))])
  }

  /// Reads a question. What a vector says about itself may be missing, as the expectation may.
  package init(question: JSON) throws(VectorFault) {
    let absent: [JSON.Member] = [
      .init("description", ""), .init("reference", ""), .init("cases", []), .init("flags", []),
      .init("importance", "must"), .init("features", []), .init("expect", ["stage": "accepted", "codes": []]),
    ]
    try self.init(json: .object((question.object ?? []) + absent.filter { question[$0.name] == nil }))
  }
}

extension SuiteAnchors {
  /// The question to another verifier. It contains the anchors, because that verifier does not have our files. Their
  /// names are numbers: the files' names tell what is wrong with them.
  package func question(of vector: TestVector) -> JSON {
    let names = vector.namedAnchors.enumerated().filter { vector.namedAnchors.firstIndex(of: $1) == $0 }.map(\.element)
    let aliases = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, "anchor-\($0 + 1)") })
    var asked = vector
    asked.trustAnchors = vector.trustAnchors.compactMap { aliases[$0] }
    asked.anchorList?.signers = vector.anchorList?.signers.compactMap { aliases[$0] } ?? []
    // The real id is the one that is hashed, so it stays.
    return asked.question(anchors: names.flatMap { name in json(of: name, calledBy: aliases[name] ?? name) })
  }
}
