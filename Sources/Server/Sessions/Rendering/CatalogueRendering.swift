import Base
import Mdoc
import Presentation

package enum CatalogueRendering {
  /// Every type, in the catalogue's order.
  package static var json: JSON { .array(DocTypeCatalogue.all.map(json)) }

  /// `age_over`: whether the namespace also has `age_over_NN`. Without `types`, no type is prescribed. An element has
  /// its own `source` if only one edition or draft defines it. `apple_elements`: the names for `apple_element` in a
  /// request. The list is empty if Apple's in-app protocol does not offer the type.
  package static func json(_ definition: DocTypeDefinition) -> JSON {
    [
      "doc_type": .string(definition.docType), "aliases": .array(definition.aliases.map { .string($0) }),
      "label": .string(definition.label), "source": .string(definition.source),
      "age_namespace": .string(definition.ageNamespace),
      "namespaces": .array(definition.namespaces.map { namespace($0, of: definition) }),
      "apple_elements": .array(
        (AppleDocumentType(docType: definition.docType)?.elementNames ?? []).map { .string($0) }),
    ]
  }

  private static func namespace(_ namespace: NamespaceDefinition, of type: DocTypeDefinition) -> JSON {
    [
      "namespace": .string(namespace.name), "label": .string(namespace.label),
      "age_over": .bool(namespace.hasAgeAttestations),
      "elements": .array(
        namespace.elements.map { element in
          [
            "identifier": .string(element.identifier), "label": .string(element.label),
            "types": .array(element.types.names.map { .string($0) }), "mandatory": .bool(element.isMandatory),
            "source": .string(element.source ?? type.source),
            "apple_in_app": .bool(isInApp(ElementReference(namespace.name, element.identifier), of: type)),
          ]
        }),
    ]
  }

  /// True if Apple's in-app protocol can request the element.
  private static func isInApp(_ element: ElementReference, of type: DocTypeDefinition) -> Bool {
    let document = DocumentRequest(docType: type.docType, elements: [ElementRequest(element)])
    return (try? AppleRequest(PresentationRequest(documents: [document]))) != nil
  }
}
