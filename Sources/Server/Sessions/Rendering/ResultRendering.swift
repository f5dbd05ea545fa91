import Base
import Mdoc

package enum ResultRendering {
  package static func json(_ presentation: AcceptedPresentation) -> JSON {
    shape.write(presentation.documents.map { DocumentView(document: $0) })
  }

  /// `simulated_result`: the response of Apple's simulator or test profile, which proves nothing.
  static func json(_ presentation: SimulatedPresentation) -> JSON { simulated.write(presentation) }

  /// The retained values, in one part for each retention period. They are the elements requested with
  /// `intent_to_retain`, and the ages that these elements prove. If there are no such elements, returns a single part
  /// with only the facts about the documents.
  static func retained(_ presentation: AcceptedPresentation) -> [(retention: Retention, values: JSON)] {
    let elements = presentation.documents.flatMap { $0.elements + $0.deviceSignedElements }
    let intended = Set(elements.map(\.retention).filter(\.isIntended)).sorted()
    return (intended.isEmpty ? [.unspecified] : intended).map { retention in
      (retention, shape.write(presentation.documents.map { DocumentView(document: $0, retention: retention) }))
    }
  }

  /// Joins the parts of one result; nil if there are none. They have the same documents and no common elements.
  static func merged(_ parts: [JSON]) -> JSON? {
    guard let first = parts.first else { return nil }
    let documents = parts.dropFirst().reduce(first["documents"]?.array ?? []) { documents, part in
      zip(documents, part["documents"]?.array ?? []).map { mergeDocument($0, $1) }
    }
    return ["documents": .array(documents)]
  }

  /// Merges the elements and the ages. Everything else is the same in both.
  private static func mergeDocument(_ left: JSON, _ right: JSON) -> JSON {
    .object(
      (left.object ?? []).map { member in
        switch (member.name, right[member.name]) {
        case ("elements", let more?), ("device_signed_elements", let more?):
          JSON.Member(member.name, mergeNamespaces(member.value, more))
        case ("age_over", let more?): JSON.Member(member.name, .array((member.value.array ?? []) + (more.array ?? [])))
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

  static let shape = Shape<[DocumentView]>.open(
    "VerificationResult", "The disclosed data of a verified response. They are the only personal data in the API.",
    [.always("documents", { $0 }, document.list, "The documents, in the response's order.")])

  static let simulated = Shape<SimulatedPresentation>.open(
    "SimulatedResult", "The response of Apple's simulator or test profile. It proves nothing.",
    [.always("documents", \.documents, simulatedDocument.list, "The documents, in the response's order.")])

  /// A document, or its part for one retention period.
  struct DocumentView: Sendable {
    let document: AcceptedDocument
    var retention: Retention?

    fileprivate var elements: [AcceptedDocument.Element] { wanted(document.elements) }
    fileprivate var deviceSigned: [AcceptedDocument.Element] { wanted(document.deviceSignedElements) }
    fileprivate var ageAnswers: [AgeAnswer] {
      let kept = Set(elements.map(\.reference))
      return document.ageAnswers.filter { retention == nil || kept.contains($0.provedBy) }
    }

    private func wanted(_ elements: [AcceptedDocument.Element]) -> [AcceptedDocument.Element] {
      elements.filter { retention == nil || $0.retention == retention }
    }
  }

  private static let document = Shape<DocumentView>.open(
    "VerifiedDocument", "One verified document.", disclosed + facts)

  private static let disclosed: [WrittenMember<DocumentView>] = [
    .always("doc_type", \.document.docType, .written(), "The document type."),
    .ifAny(
      "document_request_index", \.document.requestIndex, .count,
      "The index of the requested document in `documents` of the request. Results of older versions lack it."),
    .always("elements", \.elements, elements, "The requested elements that the issuer signed."),
    .always(
      "device_signed_elements", \.deviceSigned, elements,
      "The requested elements that only the device signed. They never satisfy a request."),
    .always("age_over", \.ageAnswers, age.list, "The results for the requested age thresholds."),
    .always("missing_elements", \.document.missingElements, name.list, "Requested elements that were not disclosed."),
    .always(
      "unrequested_elements", \.document.unrequestedElements, name.list,
      "Returned elements that were not requested. Their values are discarded."),
  ]

  private static let facts: [WrittenMember<DocumentView>] = [
    .always("issuer", \.document.issuer, issuer, "The issuer, from its certificate."),
    .orNull(
      "validity", \.document.validity, validity,
      "The document's validity; null if a zero-knowledge proof hides it."),
    .always(
      "proven_by", { $0.document.deviceAuthentication == .zeroKnowledge ? "zero_knowledge" : "issuer_signature" },
      .written(["issuer_signature", "zero_knowledge"]), "The method that proves the issuer's data."),
    .always(
      "device_authentication", \.document.deviceAuthentication, .word,
      "The method by which the device proves that it holds the document."),
    .always("revocation", \.document.revocation, .word, "The document's known revocation status."),
  ]

  private static let simulatedDocument = Shape<SimulatedPresentation.Document>.open(
    "SimulatedDocument", "One document of a simulated response.",
    [
      .always("doc_type", \.docType, .written(), "The document type."),
      .always("elements", \.elements, elements, "The elements with their values."),
      .always("age_over", \.ageAnswers, age.list, "The results for the requested age thresholds."),
    ])

  private static let age = Shape<AgeAnswer>.open(
    "AgeAnswer", "Whether the person has reached an age.",
    [
      .always("threshold", \.threshold, .count, "The requested age in years."),
      .always("answer", \.answer, .flag, "Whether the person has reached this age."),
      .always("proved_by", \.provedBy, name, "The element that proves it."),
    ])

  private static let name = NamedElement.shape.map({ ElementReference($0.namespace, $0.identifier) }) {
    NamedElement($0)
  }

  private static let validity = Shape<DocumentValidity>.open(
    "DocumentValidity", "The times in the issuer's signed data, in Unix seconds.",
    [
      .always("signed", \.signed, .seconds, "The time of the issuer's signature."),
      .always("valid_from", \.validFrom, .seconds, "Start of validity."),
      .always("valid_until", \.validUntil, .seconds, "End of validity."),
    ])

  private static let issuer = Shape<DocumentIssuer>.open(
    "Issuer", "The issuer of a document, from the signer's certificate.",
    [
      .orNull("country", \.country, .written(), "The country code."),
      .orNull("state_or_province", \.stateOrProvince, .written(), "The state or province."),
      .orNull("common_name", \.commonName, .written(), "The common name of the signing certificate."),
      .always("certificate_sha256", \.certificateSHA256, .sha256, "SHA-256 of the signing certificate."),
      .always("anchor_sha256", \.anchorSHA256, .sha256, "SHA-256 of the trust anchor at the end of its path."),
    ])

  private static let elements = Shape<[AcceptedDocument.Element]>(
    Schema.map(of: .anyObject).titled("ElementsByNamespace").described(
      "Values by namespace and identifier: text, `full-date` as YYYY-MM-DD, `tdate` as RFC 3339, bytes "
        + "as {\"media_type\"?, \"base64\"}, numbers, booleans, maps and arrays as themselves. Integers have all "
        + "their digits, also beyond 2^53. Strings are used if JSON has no number: NaN, Infinity, -Infinity, and "
        + "0x with hexadecimal digits for an integer of more than 1,024 bytes."),
    read: { _, _, _ in nil }, write: byNamespace)

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
}

/// An element's namespace and identifier and, on a page, its label.
struct NamedElement: Sendable {
  let namespace: String
  let identifier: String
  var label: String?

  init(_ element: ElementReference, label: String? = nil) {
    namespace = element.namespace
    identifier = element.identifier
    self.label = label
  }

  static let shape = Shape<NamedElement>.open(
    "NamedElement", "An element, by its name.",
    [
      .always("namespace", \.namespace, .written(), "The element's namespace."),
      .always("identifier", \.identifier, .written(), "The element's identifier."),
      .ifAny("label", \.label, .written(), "The element's display name on a hosted page."),
    ])
}

/// Element values as JSON: text as strings, full dates as `YYYY-MM-DD`, date-times as RFC 3339, bytes as
/// `{"media_type"?, "base64"}`, numbers, booleans, maps and arrays as themselves. Integers are written with all their
/// digits. Numbers without a JSON form are strings: `NaN`, `Infinity`, `-Infinity`, and the hexadecimal digits of a
/// bignum that is too long for decimal digits (`ElementValue.digits`).
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
    case .tagged(_, let content): value.digits.map { $0.contains("x") ? .string($0) : .digits($0) } ?? json(content)
    }
  }

  private static func number(_ number: Double) -> JSON {
    if number.isFinite { return .double(number) }
    return number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
  }

  /// An object, with keys as text. If two keys have the same text, such as 1 and "1" in CBOR, returns an array of
  /// pairs.
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

  /// The media type, detected from the first bytes. ISO/IEC 18013-5, 7.2.2 allows JPEG and JPEG 2000 portraits; PNG is
  /// common.
  static func mediaType(of bytes: [UInt8]) -> String? {
    let signatures: [([UInt8], String)] = [
      ([0xff, 0xd8, 0xff], "image/jpeg"),
      ([0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20, 0x0d, 0x0a, 0x87, 0x0a], "image/jp2"),
      // A bare JPEG 2000 codestream.
      ([0xff, 0x4f, 0xff, 0x51], "image/j2c"), ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"),
    ]
    return signatures.first { bytes.starts(with: $0.0) }?.1
  }
}

/// A verdict outside any session, as `mdoc verify --json` prints it.
package enum VerdictRendering {
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
        "status": .string(SessionStatus.failed.rawValue), "last_error": LastError.shape.write(LastError(reasons)),
        "result": .null, "report": report, "nothing_disclosed": false,
      ]
    }
  }
}
