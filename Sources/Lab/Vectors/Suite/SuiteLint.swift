import Base

/// Checks a suite's files against the suite's own rules: the schema, unique ids, file names, known codes, a stage that
/// fits the code, one fault for each vector, ids that keep their meaning.
package struct SuiteLint: Sendable {
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package let file: String
    package let problem: String
    package var description: String { "\(file): \(problem)" }
  }

  package private(set) var findings: [Finding] = []
  package private(set) var count = 0

  /// - Throws: `SuiteError` if the folder does not exist or has no schema.
  package init(at path: String) throws(SuiteError) {
    let folder = SuiteFolder(path)
    guard !folder.isFile else { throw SuiteError(path: path, problem: "is a file, and its folder is needed here") }
    guard let schema = try? JSON(parsing: folder.read("schema.json")) else {
      throw SuiteError(path: "\(path)/schema.json", problem: "is no JSON")
    }
    var files: [String: String] = [:]
    var meanings: [String: String] = [:]
    var inputs = SuiteInputs(folder)
    for file in try folder.vectorFiles() {
      count += 1
      let id = Self.stem(file)
      var vector: TestVector?
      findings += try Self.problems(of: file, in: &inputs, schema, &vector).map { Finding(file: file, problem: $0) }
      meanings[id] = vector?.meaning
      if let other = files[id] { findings.append(.init(file: file, problem: "has the id of \(other)")) }
      files[id] = file
    }
    guard let ledger = try CorpusLedger(in: folder) else { return }
    findings += ledger.differences(from: meanings).findings.map { id, problem in
      Finding(file: files[id] ?? id, problem: problem)
    }
  }

  private static func problems(
    of file: String, in inputs: inout SuiteInputs, _ schema: JSON, _ read: inout TestVector?
  ) throws(SuiteError) -> [String] {
    let folder = inputs.folder
    guard let json = try? JSON(parsing: folder.read(file)) else { return ["is no JSON"] }
    let violations = Schema(schema).violations(of: json, with: .init(of: schema, longestMatched: .max)).map(\.text)
    guard violations.isEmpty else { return violations }
    let vector: TestVector
    do throws(VectorFault) {
      vector = try TestVector(json: json) { inputs.input(of: $0, besides: file) }
    } catch {
      return [error.description]
    }
    read = vector
    var problems = rules(vector)
    if vector.id != stem(file) { problems.append("its id is \(vector.id)") }
    for anchor in vector.namedAnchors where !folder.has("\(SuiteFolder.anchors)/\(anchor).pem") {
      problems.append("there is no anchor \(anchor)")
    }
    return problems
  }

  /// The problems that a schema cannot express.
  static func rules(_ vector: TestVector) -> [String] {
    let expectation = vector.expectation
    var problems = (expectation.codes + (expectation.warnings ?? [])).filter { Code(rawValue: $0) == nil }
      .map { "\($0) is no code" }
    if expectation.isAccepted != expectation.codes.isEmpty {
      problems.append("what is accepted has no codes, and what is refused has")
    }
    if expectation.isAccepted != (expectation.warnings != nil) {
      problems.append("what is accepted lists its warnings, and what is refused does not")
    }
    let codes = expectation.codes.compactMap(Code.init)
    if let first = codes.first, !VectorStage.stages(of: first).contains(expectation.stage) {
      problems.append("\(first.rawValue) does not come up at \(expectation.stage.rawValue)")
    }
    if !codes.isEmpty, !isOneFault(codes) {
      problems.append("more than one thing is wrong: \(expectation.codes.joined(separator: ", "))")
    }
    if Set(vector.publications.map(\.address)).count != vector.publications.count {
      problems.append("two lists are published at one address")
    }
    if vector.description.last != "." { problems.append("the description is no sentence") }
    return problems
  }

  /// Whether one fault causes all the codes.
  private static func isOneFault(_ codes: [Code]) -> Bool {
    codes.count == 1 || inseparable.contains(Set(codes))
  }

  /// Sets of codes that one fault always causes together. A set is listed by hand, so that somebody looks at every new
  /// combination first.
  private static let inseparable: [Set<Code>] = [
    // The document is valid from a day in the future and was signed on that day.
    [.signedInFuture, .notYetValid],
    // The certificate is not valid yet or is no longer valid, and the signing time is outside its validity too.
    [.certificateExpired, .signedOutsideCertificate],
    // A signer stands where an authority should be: the path is too long, and the signer is no CA and may not sign
    // certificates.
    [.pathLengthExceeded, .certificateIsCA, .certificateKeyUsage],
    // An authority stands where the signer should be, and the signer where the authority should be.
    [
      .nameChaining, .certificateSignatureInvalid, .pathLengthExceeded, .certificateIsCA, .certificateKeyUsage,
      .certificateExtendedKeyUsage,
    ],
    // A plain document stands beside the proof of the same one.
    [.documentUnexpected, .zkPlainNotAccepted],
    // An element too many was not asked for either, or stands there twice.
    [.zkElementsMismatch, .zkElementCount],
    [.elementDuplicate, .zkElementCount],
    // A second document was not requested, and its issuer is unknown besides.
    [.documentUnexpected, .issuerUnknown],
  ]

  private static func stem(_ file: String) -> String {
    String((file.split(separator: "/").last ?? "").dropLast(".json".count))
  }
}
