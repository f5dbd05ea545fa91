import Base
import JOSE
import Mdoc

/// A relying party's request as Presentation Exchange has it in ISO/IEC TS 18013-7:2024, B.4.2: an input descriptor for
/// each document, named by its type, with a field for each element.
public struct PresentationDefinition: Sendable, Hashable {
  /// `presentation_definition`.
  public let json: JSON

  /// The definition's own id: there is one in a request.
  public static let id = "mdoc-request"

  public init(_ request: PresentationRequest) {
    let isChoice = request.documents.count > 1 && !request.requiresAllDocuments
    json = .members([
      "id": .string(Self.id),
      "input_descriptors": .array(request.documents.map { Self.descriptor($0, isChoice: isChoice) }),
      "submission_requirements": isChoice ? [["rule": "pick", "count": 1, "from": .string(choiceGroup)]] : nil,
    ])
  }

  /// `mso_mdoc` with the names that JOSE has for the algorithms: those of RFC 9864, which say no more, are
  /// younger than the profile.
  static var format: JSON {
    let names = JWSAlgorithm.all.map(\.name).filter { !["Ed25519", "Ed448"].contains($0) }
    return ["mso_mdoc": ["alg": .array(names.map(JSON.string))]]
  }

  private static func descriptor(_ document: DocumentRequest, isChoice: Bool) -> JSON {
    let fields = document.namedElements.map { wanted -> JSON in
      .members([
        "path": [.string("$\(step(wanted.element.namespace))\(step(wanted.element.identifier))")],
        "intent_to_retain": .bool(wanted.intentToRetain),
        "optional": wanted.isRequired ? nil : true,
      ])
    }
    return .members([
      "id": .string(document.docType), "format": format, "group": isChoice ? [.string(choiceGroup)] : nil,
      "constraints": ["fields": .array(fields), "limit_disclosure": "required"],
    ])
  }

  /// One step of a JSONPath in bracket notation (RFC 9535, 2.3.1.1).
  private static func step(_ name: String) -> String {
    let escaped = name.map { ["'", "\\"].contains($0) ? "\\\($0)" : String($0) }
    return "['\(escaped.joined())']"
  }
}

/// The group of descriptors of which one is to be picked.
private let choiceGroup = "any"
