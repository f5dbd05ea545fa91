import Base
import Mdoc

/// The `result` of an accepted presentation.
package enum ResultRendering {
  package static func json(_ presentation: AcceptedPresentation) -> JSON {
    shape.write(presentation.documents.map { DocumentView(document: $0) })
  }

  /// `simulated_result`: the response of Apple's simulator or test profile, which proves nothing.
  static func json(_ presentation: SimulatedPresentation) -> JSON { simulated.write(presentation) }

  /// What a retaining relying party keeps, one part for each retention period: the elements that were requested with
  /// `intent_to_retain`, and the age answers that they prove. If there is no such element, one part with the facts of
  /// the documents alone.
  static func retained(_ presentation: AcceptedPresentation) -> [(retention: Retention, values: JSON)] {
    let elements = presentation.documents.flatMap { $0.elements + $0.deviceSignedElements }
    let intended = Set(elements.map(\.retention).filter(\.isIntended)).sorted()
    return (intended.isEmpty ? [.unspecified] : intended).map { retention in
      (retention, shape.write(presentation.documents.map { DocumentView(document: $0, retention: retention) }))
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

  // MARK: The forms

  static let shape = Shape<[DocumentView]>.open(
    "VerificationResult", "What a verified response disclosed: the only place with personal data.",
    [.always("documents", { $0 }, document.list, "The documents, in the response's order.")])

  static let simulated = Shape<SimulatedPresentation>.open(
    "SimulatedResult", "The response of Apple's simulator or test profile. It proves nothing.",
    [.always("documents", \.documents, simulatedDocument.list, "The documents, in the response's order.")])

  /// A document, or as much of it as has one retention.
  struct DocumentView: Sendable {
    let document: AcceptedDocument
    /// That of the elements that are wanted; nil for all.
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
      "The index in the request's `documents` of what it answers. Results of older versions lack it."),
    .always("elements", \.elements, elements, "The requested elements that the issuer signed."),
    .always(
      "device_signed_elements", \.deviceSigned, elements,
      "The requested elements that only the device signed. They never satisfy a request."),
    .always("age_over", \.ageAnswers, age.list, "The answers to the requested age thresholds."),
    .always("missing_elements", \.document.missingElements, name.list, "Requested elements that were not disclosed."),
    .always(
      "unrequested_elements", \.document.unrequestedElements, name.list,
      "Elements that came unasked; their values are dropped."),
  ]

  private static let facts: [WrittenMember<DocumentView>] = [
    .always("issuer", \.document.issuer, issuer, "The issuer, by its certificate."),
    .orNull(
      "validity", \.document.validity, validity, "When the document is valid; null if a zero-knowledge proof hides it."),
    .always(
      "proven_by", { $0.document.deviceAuthentication == .zeroKnowledge ? "zero_knowledge" : "issuer_signature" },
      .written(["issuer_signature", "zero_knowledge"]), "How the issuer's data was proven."),
    .always(
      "device_authentication", \.document.deviceAuthentication.rawValue,
      .written(DeviceAuthenticationMethod.allCases.map(\.rawValue)), "How the device proved that it holds the document."
    ),
    .always(
      "revocation", \.document.revocation.rawValue, .written(RevocationStatus.allCases.map(\.rawValue)),
      "What is known about the document's revocation."),
  ]

  private static let simulatedDocument = Shape<SimulatedPresentation.Document>.open(
    "SimulatedDocument", "One document of a simulated response.",
    [
      .always("doc_type", \.docType, .written(), "The document type."),
      .always("elements", \.elements, elements, "The elements with their values."),
      .always("age_over", \.ageAnswers, age.list, "The answers to the requested age thresholds."),
    ])

  private static let age = Shape<AgeAnswer>.open(
    "AgeAnswer", "Whether the person has reached an age.",
    [
      .always("threshold", \.threshold, .count, "The requested age in years."),
      .always("answer", \.answer, .flag, "Whether the person is that old."),
      .always("proved_by", \.provedBy, name, "The element that proves it."),
    ])

  private static let name = NamedElement.shape.map({ ElementReference($0.namespace, $0.identifier) }) {
    NamedElement($0)
  }

  private static let validity = Shape<DocumentValidity>.open(
    "DocumentValidity", "The times in the issuer's signed data, in Unix seconds.",
    [
      .always("signed", \.signed, .seconds, "When the issuer signed it."),
      .always("valid_from", \.validFrom, .seconds, "From when it is valid."),
      .always("valid_until", \.validUntil, .seconds, "Until when it is valid."),
    ])

  private static let issuer = Shape<DocumentIssuer>.open(
    "Issuer", "The issuer of a document, as its certificate names it.",
    [
      .orNull("country", \.country, .written(), "The country code."),
      .orNull("state_or_province", \.stateOrProvince, .written(), "The state or province."),
      .orNull("common_name", \.commonName, .written(), "The common name of the signing certificate."),
      .always("certificate_sha256", \.certificateSHA256, .sha256, "SHA-256 of the signing certificate."),
      .always("anchor_sha256", \.anchorSHA256, .sha256, "SHA-256 of the trust anchor that it leads to."),
    ])

  private static let elements = Shape<[AcceptedDocument.Element]>(
    Schema.map(of: .anyObject).titled("ElementsByNamespace").described(
      "Namespaces, in each identifiers with their values: text, `full-date` as YYYY-MM-DD, `tdate` as RFC 3339, bytes "
        + "as {\"media_type\"?, \"base64\"}, numbers, booleans, maps and arrays as themselves. Integers have all "
        + "their digits, also beyond 2^53. Strings stand for what JSON has no number for: NaN, Infinity, -Infinity, and "
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

/// An element by its name; on a page with its label.
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
      .ifAny("label", \.label, .written(), "The element's name for people, on a hosted page."),
    ])
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
    LastErrorView.shape.orNull.write(error.map { LastErrorView($0) })
  }
}
