import Base

extension TestVector {
  /// The file's content: its members in a fixed order, so that the same vector is the same bytes.
  package var json: JSON { json(isQuestion: false) }

  /// What another verifier is asked: everything but the expectation, the input in full, the anchors themselves.
  package func question(anchors: [JSON]) -> JSON {
    var members = json(isQuestion: true).object ?? []
    members.removeAll { ["flags", "generator", "input"].contains($0.name) }
    members.append(JSON.Member("anchors", .array(anchors)))
    members.append(JSON.Member("input", .string(Base64.encodeURLSafe(input.bytes))))
    return .object(members)
  }

  /// Ready to be written to a file.
  package var fileContent: [UInt8] { json.serialized(pretty: true) + [UInt8(ascii: "\n")] }

  private func json(isQuestion: Bool) -> JSON {
    .members([
      "id": .string(id), "description": .string(description), "reference": .string(reference),
      "cases": .strings(cases),
      "flags": .array(flags.map { ["name": .string($0.name), "bug_class": .string($0.bugClass.rawValue)] }),
      "importance": .string(importance.rawValue),
      "features": .strings(features),
      "validation_time": .string(validationTime.description),
      "protocol": .string(session.protocolName),
      "session": session.json,
      "request": request,
      "trust_anchors": .strings(trustAnchors),
      "policy": policy.json,
      "publications": JSON.when(!publications.isEmpty, .array(publications.map { $0.json(isInFull: isQuestion) })),
      "anchor_list": anchorList.map { $0.json(isInFull: isQuestion) },
      "input": JSON.when(!input.isGenerated, .bytes(input.parts[0].bytes)),
      "generator": JSON.when(input.isGenerated, input.json),
      "expect": JSON.when(!isQuestion, expectation.json),
    ])
  }
}

extension VectorPolicy {
  /// Nil where everything is as usual.
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
          "bytes": .bytes(part.bytes), "times": JSON.when(part.times != 1, .integer(Int64(part.times))),
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
  /// The value, or nothing.
  static func when(_ condition: Bool, _ value: @autoclosure () -> JSON) -> JSON? { condition ? value() : nil }

  static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  static func bytes(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
}
