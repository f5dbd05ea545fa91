import Base
import Longfellow
import Mdoc

// MARK: What was asked for

extension SessionContent: StoredValue {
  package var storedJSON: JSON {
    .members([
      "request": request.storedJSON, "origin": origin.map { .string($0) },
      "redirectURI": redirectURI.map { .string($0) }, "page": page?.storedJSON,
      "intendedUseID": intendedUseID.map { .string($0) }, "clientReferenceID": clientReferenceID.map { .string($0) },
      "metadata": .array(metadata.map { ["name": .string($0.name), "value": .string($0.value)] }),
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let request = json["request"].flatMap(PresentationRequest.init(storedJSON:)),
      let metadata: [MetadataEntry] = json.storedList(
        "metadata",
        { entry in
          guard let name = entry["name"]?.string, let value = entry["value"]?.string else { return nil }
          return MetadataEntry(name: name, value: value)
        })
    else { return nil }
    self.init(
      request: request, origin: json["origin"]?.string, redirectURI: json["redirectURI"]?.string,
      page: json["page"].flatMap(PageWishes.init(storedJSON:)), intendedUseID: json["intendedUseID"]?.string,
      clientReferenceID: json["clientReferenceID"]?.string, metadata: metadata)
  }
}

extension PageWishes: StoredValue {
  package var storedJSON: JSON {
    .members(["purpose": purpose.map { .string($0) }, "returnURL": returnURL.map { .string($0) }])
  }

  package init?(storedJSON json: JSON) {
    self.init(purpose: json["purpose"]?.string, returnURL: json["returnURL"]?.string)
  }
}

extension PresentationRequest: StoredValue {
  package var storedJSON: JSON {
    .members([
      "documents": .array(documents.map(\.storedJSON)), "requiresAllDocuments": .bool(requiresAllDocuments),
      "purposeHint": purposeHint.map { .integer($0.rawValue) },
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let documents = json.storedList("documents", DocumentRequest.init(storedJSON:)),
      let requiresAll = json["requiresAllDocuments"]?.bool
    else { return nil }
    self.init(documents: documents, requiresAllDocuments: requiresAll)
    purposeHint = json["purposeHint"]?.integer.flatMap(PurposeHint.init)
  }
}

extension DocumentRequest: StoredValue {
  package var storedJSON: JSON {
    .members([
      "docType": .string(docType), "elements": .array(elements.map(\.storedJSON)),
      "ageOver": .array(ageOver.map { .integer(Int64($0)) }), "minimumAge": minimumAge.map { .integer(Int64($0)) },
      "acceptsExpired": acceptsExpired ? true : nil, "proofs": proofs?.storedJSON,
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let docType = json["docType"]?.string,
      let elements = json.storedList("elements", ElementRequest.init(storedJSON:)),
      let ageOver = json.storedList("ageOver", { $0.integer.flatMap { Int(exactly: $0) } }),
      let minimumAge = json.storedNumber("minimumAge")
    else { return nil }
    self.init(docType: docType, elements: elements, ageOver: ageOver, minimumAge: minimumAge)
    acceptsExpired = json["acceptsExpired"]?.bool ?? false
    if let proofs = json["proofs"] {
      guard let read = ProofRequest(storedJSON: proofs) else { return nil }
      self.proofs = read
    }
  }
}

/// The circuits by their hashes. One that this version does not know is not verified by it.
extension ProofRequest: StoredValue {
  package var storedJSON: JSON {
    ["isRequired": .bool(isRequired), "circuits": .array(circuits.map { .string($0.hash) })]
  }

  package init?(storedJSON json: JSON) {
    guard let isRequired = json["isRequired"]?.bool, let hashes = json.storedList("circuits", \.string) else {
      return nil
    }
    self.init(
      isRequired: isRequired, offering: hashes.compactMap { hash in KnownCircuit.all.first { $0.hash == hash } })
  }
}

extension ElementRequest: StoredValue {
  package var storedJSON: JSON {
    .members([
      "element": element.storedJSON, "intentToRetain": .bool(intentToRetain), "retainDays": retention.storedDays,
      "isRequired": .bool(isRequired), "alternatives": .array(alternatives.map(\.storedJSON)),
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let element = json["element"].flatMap(ElementReference.init(storedJSON:)),
      let intentToRetain = json["intentToRetain"]?.bool, let isRequired = json["isRequired"]?.bool,
      let alternatives = json.storedList("alternatives", ElementReference.init(storedJSON:)),
      let days = json.storedNumber("retainDays")
    else { return nil }
    let retention: Retention = intentToRetain ? days.map { .days($0) } ?? .unspecified : .none
    self.init(element, retention: retention, isRequired: isRequired, alternatives: alternatives)
  }
}

extension Retention {
  fileprivate var storedDays: JSON? { if case .days(let days) = self { .integer(Int64(days)) } else { nil } }
}

extension ElementReference: StoredValue {
  package var storedJSON: JSON { ["namespace": .string(namespace), "identifier": .string(identifier)] }

  package init?(storedJSON json: JSON) {
    guard let namespace = json["namespace"]?.string, let identifier = json["identifier"]?.string else { return nil }
    self.init(namespace, identifier)
  }
}

// MARK: What came of it

extension ReportRecord: StoredValue {
  package var storedJSON: JSON { json { $0.compact ?? $0.writtenOut } }

  /// With every word written out, for who may read it without this version's registry.
  var writtenOut: JSON { json(\.writtenOut) }

  private func json(_ list: ([CheckRecord]) -> JSON) -> JSON {
    .members([
      "id": id.map { .string($0) }, "verifiedAt": .integer(verifiedAt), "trustSnapshot": .string(trustSnapshot),
      "revocationPolicy": revocationPolicy.map { .string($0) }, "checks": list(checks),
      "documents": .array(documents.map { ["checks": list($0.checks)] }),
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let verifiedAt = json["verifiedAt"]?.integer, let trustSnapshot = json["trustSnapshot"]?.string,
      let checks = json["checks"].flatMap([CheckRecord].init(storedJSON:)),
      let documents = json.storedList(
        "documents",
        { document in
          document["checks"].flatMap([CheckRecord].init(storedJSON:)).map(DocumentRecord.init(checks:))
        })
    else { return nil }
    self.init(
      id: json["id"]?.string, verifiedAt: verifiedAt, trustSnapshot: trustSnapshot,
      revocationPolicy: json["revocationPolicy"]?.string, checks: checks, documents: documents)
  }
}

extension LastError: StoredValue {
  package var storedJSON: JSON {
    .members([
      "code": .string(code),
      "reasons": .array(
        reasons.map { reason in
          .members([
            "code": .string(reason.code), "document": reason.document.map { .integer(Int64($0)) },
            "clause": .string(reason.clause), "detail": reason.detail.map { .string($0) },
          ])
        }),
      "walletDescription": walletDescription.map { .string($0) },
    ])
  }

  package init?(storedJSON json: JSON) {
    guard let code = json["code"]?.string,
      let reasons: [Reason] = json.storedList(
        "reasons",
        { reason in
          guard let code = reason["code"]?.string, let clause = reason["clause"]?.string,
            let document = reason.storedNumber("document")
          else { return nil }
          return Reason(code: code, document: document, clause: clause, detail: reason["detail"]?.string)
        })
    else { return nil }
    self.init(code: code, reasons: reasons, walletDescription: json["walletDescription"]?.string)
  }
}

extension JSON {
  /// A number that may be missing; nil where something else stands there, which must not pass for nothing.
  fileprivate func storedNumber(_ name: String) -> Int?? {
    guard let value = self[name] else { return .some(nil) }
    return value.integer.flatMap { Int(exactly: $0) }.map { .some($0) }
  }

  /// The elements of a member that is an array of nothing else.
  func storedList<Element>(_ name: String, _ read: (JSON) -> Element?) -> [Element]? {
    guard let values = self[name]?.array else { return nil }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values {
      guard let element = read(value) else { return nil }
      elements.append(element)
    }
    return elements
  }
}
