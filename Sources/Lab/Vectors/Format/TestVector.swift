import Base
import Mdoc

/// One case of the corpus: an answer, everything that is needed to judge it, and the expected judgement.
///
/// It has at most one fault. It is complete except for the trust anchors, which it names.
package struct TestVector: Sendable, Hashable {
  /// The file's name without `.json`. It stays the same in every corpus that is made from the same declarations.
  package var id: String
  /// What is wrong, in one sentence.
  package var description: String
  /// The clause that decides it.
  package var reference: String
  /// Rows of the list of negative cases.
  package var cases: [String]
  package var flags: [VectorFlag]
  package var importance: Importance
  /// Optional capabilities that a verifier needs to run it.
  package var features: [String]
  package var validationTime: Timestamp
  package var session: VectorSession
  /// `documents` and `all_documents`, as the HTTP API takes them.
  package var request: JSON
  /// Names of files in the suite's `anchors` folder. If empty, no issuer is trusted.
  package var trustAnchors: [String]
  package var policy: VectorPolicy
  /// What publishers serve while the answer is judged.
  package var publications: [VectorPublication] = []
  /// A list whose anchors are trusted beside `trustAnchors`; nil if there is none.
  package var anchorList: VectorAnchorList?
  package var input: VectorInput
  package var expectation: VectorExpectation

  /// Names of all files of the `anchors` folder that the vector needs.
  package var namedAnchors: [String] { trustAnchors + (anchorList?.signers ?? []) }

  package enum Importance: String, Sendable, Hashable, CaseIterable {
    /// Security cases, and right answers that every verifier must accept.
    case must
    /// Profile rules, warnings, and capabilities that few verifiers have.
    case should
  }
}

/// The rules of the judgement, as far as they differ from the defaults.
package struct VectorPolicy: Sendable, Hashable {
  /// Whether a warning rejects the answer.
  package var isStrict = false
  package var clockSkew = Limits.clockSkew
  /// Whether mock certificates are trusted. The corpus has no others; a live server trusts none of them.
  package var trustsTestCertificates = true
  package var revocation = RevocationPolicy.off
  /// Whether status lists may be JSON Web Tokens.
  package var allowsJWTStatusLists = false

  package init() {}
}

/// The expected judgement.
package struct VectorExpectation: Sendable, Hashable {
  package var stage: VectorStage
  /// The codes of all failed checks, the primary one first; empty if the answer is to be accepted.
  package var codes: [String]
  /// All warnings; nil if the answer is to be refused, since warnings are not compared then.
  package var warnings: [String]?

  package init(stage: VectorStage, codes: [String] = [], warnings: [String]? = nil) {
    self.stage = stage
    self.codes = codes
    self.warnings = warnings
  }

  package var isAccepted: Bool { stage == .accepted }
}

/// A fault in a vector's file: a JSON pointer to the place, and the problem.
package struct VectorFault: Error, Sendable, Hashable, CustomStringConvertible {
  package let pointer: String
  package let problem: String

  package var description: String { "\(pointer.isEmpty ? "the file" : pointer) \(problem)" }
}

extension TestVector {
  /// Gives the input of another vector of the same group, by its id; nil if there is none.
  package typealias InputLookup = (_ id: String) -> [UInt8]?

  /// Reads a file, and throws the first fault: a vector that is read in part proves nothing.
  package init(json: JSON, inputs: InputLookup = { _ in nil }) throws(VectorFault) {
    let reader = MemberParser(json, at: "")
    id = try reader.string("id")
    description = try reader.string("description")
    reference = try reader.string("reference")
    cases = try reader.strings("cases")
    flags = try reader.elements("flags").map { element throws(VectorFault) in
      VectorFlag(try element.string("name"), try element.choice("bug_class"))
    }
    importance = try reader.choice("importance")
    features = try reader.strings("features")
    guard let time = Timestamp(rfc3339: try reader.string("validation_time")) else {
      throw reader.fault("validation_time", "is not a time like 2026-11-20T10:00:00Z")
    }
    validationTime = time
    session = try VectorSession(name: reader.string("protocol"), reader.object("session"))
    request = try reader.value("request")
    trustAnchors = try reader.strings("trust_anchors")
    policy = try reader.optional("policy") == nil ? VectorPolicy() : VectorPolicy(reader.object("policy"))
    if reader.optional("publications") != nil {
      publications = try reader.elements("publications").map { element throws(VectorFault) in
        try VectorPublication(element)
      }
    }
    if reader.optional("anchor_list") != nil { anchorList = try VectorAnchorList(reader.object("anchor_list")) }
    input = try VectorInput(reader, inputs: inputs)
    expectation = try VectorExpectation(reader.object("expect"))
  }
}

extension VectorPolicy {
  fileprivate init(_ reader: MemberParser) throws(VectorFault) {
    self.init()
    isStrict = try reader.bool("strict") ?? isStrict
    clockSkew = try reader.optional("clock_skew") == nil ? clockSkew : reader.integer("clock_skew")
    trustsTestCertificates = try reader.bool("test_certificates") ?? trustsTestCertificates
    revocation = try reader.optional("revocation") == nil ? revocation : reader.choice("revocation")
    allowsJWTStatusLists = try reader.bool("jwt_status_lists") ?? allowsJWTStatusLists
  }
}

extension VectorInput {
  /// The most bytes that a generator may make, so that a file cannot exhaust the memory of the program that runs it.
  private static let largest = 64 << 20

  /// - Parameters:
  ///   - member: the member that holds the bytes if no generator describes them.
  ///   - inputs: other vectors' inputs, which parts may be taken of.
  init(
    _ reader: MemberParser, member: String = "input", inputs: TestVector.InputLookup = { _ in nil }
  ) throws(VectorFault) {
    guard reader.optional("generator") != nil else {
      self.init(parts: [Part(try reader.bytes(member))])
      return
    }
    guard reader.optional(member) == nil else { throw reader.fault(member, "stands beside a generator") }
    var parts: [Part] = []
    var total = 0
    for element in try reader.elements("generator") {
      let origin = try element.optional("vector") == nil ? nil : Origin(element)
      let bytes = if let origin { try element.bytes(of: origin, in: inputs) } else { try element.bytes("bytes") }
      let times = try element.optional("times") == nil ? 1 : element.integer("times")
      guard times >= 1 else { throw element.fault("times", "is below 1") }
      guard times <= Int64(Self.largest), bytes.count <= Self.largest,
        total + bytes.count * Int(times) <= Self.largest
      else { throw reader.fault("generator", "makes more than \(Self.largest >> 20) MiB") }
      total += bytes.count * Int(times)
      var part = Part(bytes, times: Int(times))
      part.origin = origin
      parts.append(part)
    }
    self.init(parts: parts)
  }
}

extension VectorInput.Origin {
  fileprivate init(_ reader: MemberParser) throws(VectorFault) {
    let offset = try reader.integer("from")
    self.init(vector: try reader.string("vector"), offset: Int(clamping: offset))
  }
}

extension MemberParser {
  fileprivate func bytes(
    of origin: VectorInput.Origin, in inputs: TestVector.InputLookup
  ) throws(VectorFault) -> [UInt8] {
    guard let base = inputs(origin.vector) else { throw fault("vector", "is no other vector of the group") }
    let count = try integer("count")
    guard origin.offset >= 0, count > 0, count <= Int64(base.count - origin.offset) else {
      throw fault("count", "goes beyond that vector's input")
    }
    return Array(base[origin.offset...].prefix(Int(count)))
  }
}

extension VectorExpectation {
  fileprivate init(_ reader: MemberParser) throws(VectorFault) {
    self.init(
      stage: try reader.choice("stage"), codes: try reader.strings("codes"),
      warnings: try reader.optional("warnings") == nil ? nil : reader.strings("warnings"))
  }
}

extension TestVector {
  /// The file's content. Its members have a fixed order, so that the same vector gives the same bytes.
  package var json: JSON {
    .object([statements, circumstances(isInFull: false), answer].flatMap { $0.object ?? [] })
  }

  /// The bytes of the file.
  package var fileContent: [UInt8] { json.serialized(pretty: true) + [UInt8(ascii: "\n")] }

  /// What the case says about itself.
  private var statements: JSON {
    [
      "id": .string(id), "description": .string(description), "reference": .string(reference),
      "cases": .strings(cases),
      "flags": .array(flags.map { ["name": .string($0.name), "bug_class": .string($0.bugClass.rawValue)] }),
      "importance": .string(importance.rawValue),
      "features": .strings(features),
    ]
  }

  private var answer: JSON {
    .members([
      "input": JSON.when(!input.isGenerated, .bytes(input.parts[0].bytes)),
      "generator": JSON.when(input.isGenerated, input.json), "expect": expectation.json,
    ])
  }

  /// What a verifier needs to know to judge the answer, but for the anchors themselves.
  ///
  /// - Parameter isInFull: writes whole bytes instead of generators.
  func circumstances(isInFull: Bool) -> JSON {
    .members([
      "validation_time": .string(validationTime.description),
      "protocol": .string(session.protocolName),
      "session": session.json,
      "request": request,
      "trust_anchors": .strings(trustAnchors),
      "policy": policy.json,
      "publications": JSON.when(!publications.isEmpty, .array(publications.map { $0.json(isInFull: isInFull) })),
      "anchor_list": anchorList.map { $0.json(isInFull: isInFull) },
    ])
  }
}

extension VectorPolicy {
  /// Only the rules that differ from the defaults; nil if none does.
  fileprivate var json: JSON? {
    let usual = VectorPolicy()
    guard self != usual else { return nil }
    return .members([
      "strict": JSON.when(isStrict != usual.isStrict, .bool(isStrict)),
      "clock_skew": JSON.when(clockSkew != usual.clockSkew, .integer(clockSkew)),
      "test_certificates": JSON.when(
        trustsTestCertificates != usual.trustsTestCertificates, .bool(trustsTestCertificates)),
      "revocation": JSON.when(revocation != usual.revocation, .string(revocation.rawValue)),
      "jwt_status_lists": JSON.when(
        allowsJWTStatusLists != usual.allowsJWTStatusLists, .bool(allowsJWTStatusLists)),
    ])
  }
}

extension VectorInput {
  var json: JSON {
    .array(
      parts.map { part in
        .members([
          "vector": part.origin.map { .string($0.vector) }, "from": part.origin.map { .integer(Int64($0.offset)) },
          "count": JSON.when(part.origin != nil, .integer(Int64(part.bytes.count))),
          "bytes": JSON.when(part.origin == nil, .bytes(part.bytes)),
          "times": JSON.when(part.times != 1, .integer(Int64(part.times))),
        ])
      })
  }
}

extension VectorExpectation {
  fileprivate var json: JSON {
    .members([
      "stage": .string(stage.rawValue), "codes": .strings(codes), "warnings": warnings.map { .strings($0) },
    ])
  }
}

extension JSON {
  /// The value if the condition holds, otherwise nil.
  static func when(_ condition: Bool, _ value: @autoclosure () -> JSON) -> JSON? { condition ? value() : nil }

  static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  static func bytes(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
}
