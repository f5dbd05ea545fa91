import Base

/// What is wrong with a vector's file, and where in it.
package struct VectorFault: Error, Sendable, Hashable, CustomStringConvertible {
  package let pointer: String
  package let problem: String

  package var description: String { "\(pointer.isEmpty ? "the file" : pointer) \(problem)" }
}

extension TestVector {
  /// Reads a file. The first fault ends it: a vector that is half understood proves nothing.
  package init(json: JSON) throws(VectorFault) {
    let reader = MemberReader(json, at: "")
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
    input = try VectorInput(reader)
    expectation = try VectorExpectation(reader.object("expect"))
  }

  /// Reads what a harness is asked: a vector without flags and expectation.
  package init(question: JSON) throws(VectorFault) {
    var members = question.object ?? []
    if question["flags"] == nil { members.append(JSON.Member("flags", [])) }
    if question["expect"] == nil { members.append(JSON.Member("expect", ["stage": "accepted", "codes": []])) }
    try self.init(json: .object(members))
  }
}

extension VectorPolicy {
  fileprivate init(_ reader: MemberReader) throws(VectorFault) {
    self.init()
    isStrict = try reader.bool("strict") ?? isStrict
    clockSkew = try reader.optional("clock_skew") == nil ? clockSkew : reader.integer("clock_skew")
    trustsTestCertificates = try reader.bool("test_certificates") ?? trustsTestCertificates
    revocation = try reader.optional("revocation") == nil ? revocation : reader.choice("revocation")
    allowsJWTStatusLists = try reader.bool("jwt_status_lists") ?? allowsJWTStatusLists
  }
}

extension VectorInput {
  /// The most that a generator may make; a file must not be able to fill the memory of whoever runs it.
  private static let largest = 64 << 20

  /// - Parameter member: which holds the bytes, where no generator describes them.
  init(_ reader: MemberReader, member: String = "input") throws(VectorFault) {
    guard reader.optional("generator") != nil else {
      self.init(parts: [Part(try reader.bytes(member))])
      return
    }
    guard reader.optional(member) == nil else { throw reader.fault(member, "stands beside a generator") }
    var parts: [Part] = []
    var total = 0
    for element in try reader.elements("generator") {
      let bytes = try element.bytes("bytes")
      let times = try element.optional("times") == nil ? 1 : element.integer("times")
      guard (1...Int64(Self.largest)).contains(times), bytes.count <= Self.largest,
        total + bytes.count * Int(times) <= Self.largest
      else { throw reader.fault("generator", "makes more than \(Self.largest >> 20) MiB") }
      total += bytes.count * Int(times)
      parts.append(Part(bytes, times: Int(times)))
    }
    self.init(parts: parts)
  }
}

extension VectorExpectation {
  fileprivate init(_ reader: MemberReader) throws(VectorFault) {
    self.init(
      stage: try reader.choice("stage"), codes: try reader.strings("codes"),
      warnings: try reader.optional("warnings") == nil ? nil : reader.strings("warnings"))
  }
}
