import Mdoc
import Primitives

/// The `result` of an accepted presentation.
public enum ResultRendering {
  public static func json(_ presentation: AcceptedPresentation) -> JSON {
    ["documents": .array(presentation.documents.map { document($0, retainedOnly: false) })]
  }

  /// `simulated_result`: what Apple's simulator answered, which proves nothing.
  static func json(_ presentation: SimulatedPresentation) -> JSON {
    [
      "documents": .array(
        presentation.documents.map { document in
          ["doc_type": .string(document.docType), "elements": byNamespace(document.elements)]
        })
    ]
  }

  /// What a retaining relying party keeps: only elements requested with `intent_to_retain`, and age answers that
  /// those prove.
  static func retainedJSON(_ presentation: AcceptedPresentation) -> JSON {
    ["documents": .array(presentation.documents.map { document($0, retainedOnly: true) })]
  }

  private static func document(_ document: AcceptedDocument, retainedOnly: Bool) -> JSON {
    let elements = document.elements.filter { !retainedOnly || $0.intentToRetain }
    let deviceSigned = document.deviceSignedElements.filter { !retainedOnly || $0.intentToRetain }
    let kept = Set(elements.map(\.reference))
    let answers = document.ageAnswers.filter { !retainedOnly || kept.contains($0.provedBy) }
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
      if let index = namespaces.firstIndex(where: { $0.name == element.reference.namespace }) {
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
