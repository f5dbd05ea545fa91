import Base

extension VectorPublication {
  init(_ reader: MemberReader) throws(VectorFault) {
    let address = try reader.string("address")
    if reader.optional("fault") != nil {
      self.init(address: address, answer: .fault(try reader.choice("fault")))
    } else {
      let input = try VectorInput(reader, member: "bytes")
      self.init(address: address, answer: .list(input, mediaType: try reader.string("media_type")))
    }
  }

  /// - Parameter isInFull: without a generator, as another verifier is asked.
  func json(isInFull: Bool) -> JSON {
    switch answer {
    case .fault(let fault): ["address": .string(address), "fault": .string(fault.rawValue)]
    case .list(let input, let mediaType):
      .members([
        "address": .string(address), "media_type": .string(mediaType),
        "bytes": JSON.when(isInFull || !input.isGenerated, .bytes(input.bytes)),
        "generator": JSON.when(!isInFull && input.isGenerated, input.json),
      ])
    }
  }
}

extension VectorList {
  init(_ format: Format, _ reader: MemberReader) throws(VectorFault) {
    self.init(format: format)
    if reader.optional("last_accepted") != nil {
      let last = try reader.object("last_accepted")
      self.last = LastAccepted(
        date: try last.string("date"), number: try last.optional("number") == nil ? nil : last.integer("number"),
        digest: try last.optional("digest") == nil ? nil : last.bytes("digest"))
      guard Timestamp(rfc3339: try last.string("date")) != nil else { throw last.fault("date", "is no time") }
    }
    guard format == .trustedEntities else { return }
    issuance = try reader.elements("issuance").map { element throws(VectorFault) in
      Service(type: try element.string("service_type"), docTypes: try element.strings("doc_types"))
    }
    revocation = try reader.strings("revocation")
  }

  var json: JSON {
    .members([
      "issuance": JSON.when(
        format == .trustedEntities,
        .array(issuance.map { ["service_type": .string($0.type), "doc_types": .strings($0.docTypes)] })),
      "revocation": JSON.when(format == .trustedEntities, .strings(revocation)),
      "last_accepted": last.map { last in
        .members([
          "date": .string(last.date), "number": last.number.map { .integer($0) },
          "digest": last.digest.map { .bytes($0) },
        ])
      },
    ])
  }
}

extension VectorAnchorList {
  init(_ reader: MemberReader) throws(VectorFault) {
    self.init(
      list: try VectorList(try reader.choice("format"), reader.object("source")),
      signers: try reader.strings("signers"), input: try VectorInput(reader, member: "bytes"))
  }

  func json(isInFull: Bool) -> JSON {
    .members([
      "format": .string(list.format.rawValue), "source": list.json, "signers": .strings(signers),
      "bytes": JSON.when(isInFull || !input.isGenerated, .bytes(input.bytes)),
      "generator": JSON.when(!isInFull && input.isGenerated, input.json),
    ])
  }
}
