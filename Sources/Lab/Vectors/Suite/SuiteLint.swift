import Base

/// Checks a suite's files: schema, unique ids, names, codes and their stages, one fault in each vector, and the ids'
/// meanings.
package struct SuiteLint: Sendable {
  package private(set) var findings: [SuiteError] = []
  package private(set) var count = 0

  /// - Throws: `SuiteError` if the folder does not exist or has no schema.
  package init(at path: String) throws(SuiteError) {
    let folder = SuiteFolder(path)
    guard !folder.isFile else { throw SuiteError(path: path, problem: "is a file; name its folder") }
    guard let schema = try? JSON(parsing: folder.read("schema.json")) else {
      throw SuiteError(path: "\(path)/schema.json", problem: "must be JSON")
    }
    var files: [String: String] = [:]
    var meanings: [String: String] = [:]
    var vectors: [(file: String, json: JSON?)] = []
    for file in try folder.vectorFiles() { vectors.append((file, try? JSON(parsing: folder.read(file)))) }
    let inputs = SuiteInputs(vectors.compactMap { file, json in json.map { (folder.group(of: file), $0) } })
    count = vectors.count
    for (file, json) in vectors {
      let id = Self.stem(file)
      var vector: TestVector?
      let problems = Self.problems(of: json, file, in: folder, inputs, Schema(schema), &vector)
      findings += problems.map { SuiteError(path: file, problem: $0) }
      meanings[id] = vector?.meaning
      if let other = files[id] { findings.append(.init(path: file, problem: "has the id of \(other)")) }
      files[id] = file
    }
    guard let ledger = try CorpusLedger(in: folder) else { return }
    findings += ledger.differences(from: meanings).findings.map { id, problem in
      SuiteError(path: files[id] ?? id, problem: problem)
    }
  }

  private static func problems(
    of json: JSON?, _ file: String, in folder: SuiteFolder, _ inputs: SuiteInputs, _ schema: Schema,
    _ read: inout TestVector?
  ) -> [String] {
    guard let json else { return ["must be JSON"] }
    let violations = schema.violations(of: json, with: .init(of: schema.json, longestMatched: .max)).map(\.text)
    guard violations.isEmpty else { return violations }
    let vector: TestVector
    do throws(VectorError) { vector = try inputs.vector(json, in: folder.group(of: file)) } catch {
      return [error.description]
    }
    read = vector
    var problems = rules(vector)
    if vector.id != stem(file) { problems.append("the id must be the file's name, not \(vector.id)") }
    for anchor in vector.namedAnchors where !folder.has("\(SuiteFolder.anchors)/\(anchor).pem") {
      problems.append("unknown anchor \(anchor)")
    }
    return problems
  }

  /// The problems that a schema cannot express.
  static func rules(_ vector: TestVector) -> [String] {
    let expectation = vector.expectation
    var problems = (expectation.codes + (expectation.warnings ?? [])).filter { Code(rawValue: $0) == nil }
      .map { "\($0) is not a code" }
    if expectation.isAccepted != expectation.codes.isEmpty {
      problems.append("only a refused case must have codes")
    }
    if expectation.isAccepted != (expectation.warnings != nil) {
      problems.append("only an accepted case must list warnings")
    }
    let codes = expectation.codes.compactMap(Code.init)
    if let first = codes.first, !VectorStage.stages(of: first).contains(expectation.stage) {
      problems.append("\(first.rawValue) cannot occur at stage \(expectation.stage.rawValue)")
    }
    if codes.count > 1, !inseparable.contains(Set(codes)) {
      problems.append("more than one fault: \(expectation.codes.joined(separator: ", "))")
    }
    if Set(vector.publications.map(\.address)).count != vector.publications.count {
      problems.append("two lists have the same address")
    }
    if vector.description.last != "." { problems.append("the description must end with a full stop") }
    return problems
  }

  /// Sets of codes that a single fault always causes together. Listed by hand, so that somebody reviews every new set.
  private static let inseparable: [Set<Code>] = [
    // The document is valid from a day in the future and was signed on that day.
    [.signedInFuture, .notYetValid],
    // The certificate is not valid, and the signing time is outside its validity too.
    [.certificateExpired, .signedOutsideCertificate],
    // A signer is in an authority's position. The path is too long, and the signer may not sign certificates.
    [.pathLengthExceeded, .certificateIsCA, .certificateKeyUsage],
    // The authority and the signer are swapped.
    [
      .nameChaining, .certificateSignatureInvalid, .pathLengthExceeded, .certificateIsCA, .certificateKeyUsage,
      .certificateExtendedKeyUsage,
    ],
    // A plain document beside the proof of the same document.
    [.documentUnexpected, .zkPlainNotAccepted],
    // One surplus element: unrequested or duplicate.
    [.zkElementsMismatch, .zkElementCount],
    [.elementDuplicate, .zkElementCount],
    // An unrequested second document from an unknown issuer.
    [.documentUnexpected, .issuerUnknown],
  ]

  private static func stem(_ file: String) -> String {
    String((file.split(separator: "/").last ?? "").dropLast(".json".count))
  }
}
