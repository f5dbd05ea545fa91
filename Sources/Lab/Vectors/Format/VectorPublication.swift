import Base

/// What one address serves while a vector is judged. All other addresses serve nothing.
package struct VectorPublication: Sendable, Hashable {
  /// The address, exactly as the document or certificate writes it.
  package var address: String
  package var answer: Answer

  package enum Answer: Sendable, Hashable {
    case list(VectorInput, mediaType: String)
    case fault(Fault)
  }

  package enum Fault: String, Sendable, Hashable, CaseIterable {
    case unavailable
    case tooLarge = "too_large"
  }

  package init(address: String, answer: Answer) {
    self.address = address
    self.answer = answer
  }
}

/// A signed list of anchors: how a relying party configures it, and what it remembers of it.
package struct VectorList: Sendable, Hashable {
  package var format: Format
  /// The last list of the same source that was accepted; nil if there is none.
  package var last: LastAccepted?
  /// For each service type of a list of trusted entities, the document types that it stands for, in their order.
  package var issuance: [Service]
  /// The service types whose certificates sign status lists.
  package var revocation: [String]

  package enum Format: String, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 18013-5, Annex C.
    case vical
    /// ETSI TS 119 602 in its JSON form.
    case trustedEntities = "trusted-entities"
  }

  package struct Service: Sendable, Hashable {
    package var type: String
    package var docTypes: [String]

    package init(type: String, docTypes: [String]) {
      self.type = type
      self.docTypes = docTypes
    }
  }

  package struct LastAccepted: Sendable, Hashable {
    /// `date` of a VICAL or `ListIssueDateTime` of a list of trusted entities, as RFC 3339.
    package var date: String
    /// `vicalIssueID` or `LoTESequenceNumber`.
    package var number: Int64?
    /// SHA-256 of a VICAL's payload; nil for a list of trusted entities.
    package var digest: [UInt8]?

    package init(date: String, number: Int64?, digest: [UInt8]? = nil) {
      self.date = date
      self.number = number
      self.digest = digest
    }
  }

  package init(
    format: Format, last: LastAccepted? = nil, issuance: [Service] = [], revocation: [String] = []
  ) {
    self.format = format
    self.last = last
    self.issuance = issuance
    self.revocation = revocation
  }
}

/// A list whose anchors are trusted beside those that a vector names.
package struct VectorAnchorList: Sendable, Hashable {
  package var list: VectorList
  /// Names of files in the suite's `anchors` folder: the list's signer must be under one of them.
  package var signers: [String]
  package var input: VectorInput

  package init(list: VectorList, signers: [String], input: VectorInput) {
    self.list = list
    self.signers = signers
    self.input = input
  }
}

extension VectorPublication {
  init(_ reader: MemberParser) throws(VectorFault) {
    let address = try reader.string("address")
    if reader.optional("fault") != nil {
      self.init(address: address, answer: .fault(try reader.choice("fault")))
    } else {
      let input = try VectorInput(reader, member: "bytes")
      self.init(address: address, answer: .list(input, mediaType: try reader.string("media_type")))
    }
  }

  /// - Parameter isInFull: writes the whole bytes instead of a generator, for a question to another verifier.
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
  init(_ format: Format, _ reader: MemberParser) throws(VectorFault) {
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
  init(_ reader: MemberParser) throws(VectorFault) {
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
