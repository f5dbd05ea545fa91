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

  /// What a retaining relying party keeps, apart by how long: only elements requested with `intent_to_retain`, and age
  /// answers that those prove. Where nothing is, the facts of the documents alone.
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

  /// What is not of elements is the same in both.
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
    return [
      "doc_type": .string(document.docType),
      "elements": byNamespace(elements),
      "device_signed_elements": byNamespace(deviceSigned),
      "age_over": .array(answers.map(age)),
      "missing_elements": .array(document.missingElements.map(reference)),
      "unrequested_elements": .array(document.unrequestedElements.map(reference)),
      "issuer": issuer(document.issuer),
      "validity": [
        "signed": .seconds(document.validity.signed), "valid_from": .seconds(document.validity.validFrom),
        "valid_until": .seconds(document.validity.validUntil),
      ],
      "device_authentication": .string(document.deviceAuthentication.rawValue),
      "revocation": .string(document.revocation.rawValue),
    ]
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
