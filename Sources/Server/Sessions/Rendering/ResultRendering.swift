import Base
import Mdoc

/// The `result` of an accepted presentation.
package enum ResultRendering {
  package static func json(_ presentation: AcceptedPresentation) -> JSON {
    ["documents": .array(presentation.documents.map { document($0) })]
  }

  /// `simulated_result`: what Apple's simulator or test profile answered, which proves nothing.
  static func json(_ presentation: SimulatedPresentation) -> JSON {
    [
      "documents": .array(
        presentation.documents.map { document in
          [
            "doc_type": .string(document.docType), "elements": byNamespace(document.elements),
            "age_over": .array(document.ageAnswers.map(age)),
          ]
        })
    ]
  }

  /// What a retaining relying party keeps, one part for each retention period: the elements that were requested with
  /// `intent_to_retain`, and the age answers that they prove. If there is no such element, one part with the facts of
  /// the documents alone.
  static func retained(_ presentation: AcceptedPresentation) -> [(retention: Retention, values: JSON)] {
    let elements = presentation.documents.flatMap { $0.elements + $0.deviceSignedElements }
    let intended = Set(elements.map(\.retention).filter(\.isIntended)).sorted()
    return (intended.isEmpty ? [.unspecified] : intended).map { retention in
      (retention, ["documents": .array(presentation.documents.map { document($0, only: retention) })])
    }
  }

  /// The parts of one result put together again; nil for none. They have the same documents, and no element twice.
  static func merged(_ parts: [JSON]) -> JSON? {
    guard let first = parts.first else { return nil }
    let documents = parts.dropFirst().reduce(first["documents"]?.array ?? []) { documents, part in
      zip(documents, part["documents"]?.array ?? []).map { mergeDocument($0, $1) }
    }
    return ["documents": .array(documents)]
  }

  /// Merges the elements and the age answers. Everything else is the same in both.
  private static func mergeDocument(_ left: JSON, _ right: JSON) -> JSON {
    .object(
      (left.object ?? []).map { member in
        switch (member.name, right[member.name]) {
        case ("elements", let more?), ("device_signed_elements", let more?):
          JSON.Member(member.name, mergeNamespaces(member.value, more))
        case ("age_over", let more?):
          JSON.Member(member.name, .array((member.value.array ?? []) + (more.array ?? [])))
        default: member
        }
      })
  }

  private static func mergeNamespaces(_ left: JSON, _ right: JSON) -> JSON {
    let (mine, more) = (left.object ?? [], right.object ?? [])
    return .object(
      mine.map { JSON.Member($0.name, .object(($0.value.object ?? []) + (right[$0.name]?.object ?? []))) }
        + more.filter { left[$0.name] == nil })
  }

  /// - Parameter retention: of the elements that are wanted; nil for all.
  private static func document(_ document: AcceptedDocument, only retention: Retention? = nil) -> JSON {
    let elements = document.elements.filter { retention == nil || $0.retention == retention }
    let deviceSigned = document.deviceSignedElements.filter { retention == nil || $0.retention == retention }
    let kept = Set(elements.map(\.reference))
    let answers = document.ageAnswers.filter { retention == nil || kept.contains($0.provedBy) }
    return .members([
      "doc_type": .string(document.docType),
      "document_request_index": document.requestIndex.map { .integer(Int64($0)) },
      "elements": byNamespace(elements),
      "device_signed_elements": byNamespace(deviceSigned),
      "age_over": .array(answers.map(age)),
      "missing_elements": .array(document.missingElements.map(reference)),
      "unrequested_elements": .array(document.unrequestedElements.map(reference)),
      "issuer": issuer(document.issuer),
      "validity": document.validity.map(validity) ?? .null,
      "proven_by": document.deviceAuthentication == .zeroKnowledge ? "zero_knowledge" : "issuer_signature",
      "device_authentication": .string(document.deviceAuthentication.rawValue),
      "revocation": .string(document.revocation.rawValue),
    ])
  }

  /// Namespaces and elements in the order of the response.
  private static func byNamespace(_ elements: [AcceptedDocument.Element]) -> JSON {
    var namespaces: [(name: String, members: [JSON.Member])] = []
    for element in elements {
      let member = JSON.Member(element.reference.identifier, ElementValueRendering.json(element.value))
      if let index = namespaces.firstIndex(where: { $0.name.hasSameBytes(as: element.reference.namespace) }) {
        namespaces[index].members.append(member)
      } else {
        namespaces.append((element.reference.namespace, [member]))
      }
    }
    return .object(namespaces.map { JSON.Member($0.name, .object($0.members)) })
  }

  private static func age(_ answer: AgeAnswer) -> JSON {
    [
      "threshold": .integer(Int64(answer.threshold)), "answer": .bool(answer.answer),
      "proved_by": reference(answer.provedBy),
    ]
  }

  private static func reference(_ reference: ElementReference) -> JSON {
    ["namespace": .string(reference.namespace), "identifier": .string(reference.identifier)]
  }

  private static func validity(_ validity: DocumentValidity) -> JSON {
    [
      "signed": .seconds(validity.signed), "valid_from": .seconds(validity.validFrom),
      "valid_until": .seconds(validity.validUntil),
    ]
  }

  private static func issuer(_ issuer: DocumentIssuer) -> JSON {
    [
      "country": .optional(issuer.country), "state_or_province": .optional(issuer.stateOrProvince),
      "common_name": .optional(issuer.commonName), "certificate_sha256": .string(issuer.certificateSHA256),
      "anchor_sha256": .string(issuer.anchorSHA256),
    ]
  }
}

extension JSON {
  static func seconds(_ time: Timestamp) -> JSON { .integer(time.secondsSince1970) }

  static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}

/// Element values as JSON: text as strings, full dates as `YYYY-MM-DD`, date-times as RFC 3339, bytes as
/// `{"media_type"?, "base64"}`, numbers, booleans, maps and arrays as themselves (HTTP API, Sessions). Integers have all
/// their digits. A number that JSON has no form for is a string: `NaN`, `Infinity`, `-Infinity`, and the hexadecimal
/// digits of a bignum that is too long for decimal ones (`ElementValue.digits`).
enum ElementValueRendering {
  static func json(_ value: ElementValue) -> JSON {
    switch value {
    case .text(let text): .string(text)
    case .integer(let number): .digits("\(number)")
    case .double(let number): self.number(number)
    case .bool(let bool): .bool(bool)
    case .null: .null
    case .fullDate(let date): .string(date.description)
    case .dateTime(let text): .string(text)
    case .bytes(let bytes):
      .members(["media_type": mediaType(of: bytes).map { .string($0) }, "base64": .string(Base64.encode(bytes))])
    case .array(let elements): .array(elements.map(json))
    case .map(let entries): map(entries)
    case .tagged(_, let content):
      value.digits.map { $0.contains("x") ? .string($0) : .digits($0) } ?? json(content)
    }
  }

  private static func number(_ number: Double) -> JSON {
    if number.isFinite { return .double(number) }
    return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
  }

  /// An object, with keys that are no text as their text. Two keys of one text, which CBOR allows (1 and "1"), make it
  /// an array of pairs instead: no JSON reader would see both.
  private static func map(_ entries: [ElementValue.Entry]) -> JSON {
    let members = entries.map { JSON.Member(name($0.key), json($0.value)) }
    guard Set(members.map(\.name)).count == members.count else {
      return .array(entries.map { [json($0.key), json($0.value)] })
    }
    return .object(members)
  }

  private static func name(_ key: ElementValue) -> String {
    let key = json(key)
    return key.string ?? key.text()
  }

  /// By the first bytes: ISO/IEC 18013-5, 7.2.2 allows JPEG and JPEG 2000 portraits; PNG is common besides.
  static func mediaType(of bytes: [UInt8]) -> String? {
    let signatures: [([UInt8], String)] = [
      ([0xff, 0xd8, 0xff], "image/jpeg"),
      ([0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a], "image/jp2"),
      // A bare JPEG 2000 codestream.
      ([0xff, 0x4f, 0xff, 0x51], "image/j2c"),
      ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"),
    ]
    return signatures.first { bytes.starts(with: $0.0) }?.1
  }
}

/// A verdict outside any session, as `mdoc verify --json` prints it: the members of a session that an attempt sets, and
/// whether a verified answer has nothing in it.
package enum VerdictRendering {
  /// - Parameter id: of a report that is stored.
  package static func json(_ verdict: Verdict, id: ReportID? = nil) -> JSON {
    let report = ReportRendering.json(ReportRecord(verdict.report, id: id))
    switch verdict.outcome {
    case .accepted(let presentation):
      return [
        "status": .string(SessionStatus.verified.rawValue), "last_error": .null,
        "result": ResultRendering.json(presentation), "report": report,
        "nothing_disclosed": .bool(!presentation.disclosesSomething),
      ]
    case .refused(let reasons):
      return [
        "status": .string(SessionStatus.failed.rawValue), "last_error": lastError(LastError(reasons)),
        "result": .null, "report": report, "nothing_disclosed": false,
      ]
    }
  }

  static func lastError(_ error: LastError?) -> JSON {
    guard let error else { return .null }
    return .members([
      "code": .string(error.code),
      "reasons": .array(
        error.reasons.map { reason in
          [
            "code": .string(reason.code), "document": reason.document.map { .integer(Int64($0)) } ?? .null,
            "clause": .string(reason.clause),
          ]
        }),
      "unverified_wallet_description": error.walletDescription.map { .string($0) },
    ])
  }
}
