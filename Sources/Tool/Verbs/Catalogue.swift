import Base
import Mdoc
import Presentation
import Sessions

enum CatalogueCommand {
  static let command = Command(
    "catalogue", "list the known document types, or the elements of a type", options: [.json],
    operand: Operand(placeholder: "DOCTYPE", help: "the document type whose elements to list", isOptional: true),
    notes: ["Requests may also name other document types and elements. Their values keep their CBOR types."],
    examples: [
      .init("List every document type", "mdoc catalogue"),
      .init("List the elements of a driving licence", "mdoc catalogue org.iso.18013.5.1.mDL"),
      .init("Print the whole catalogue as JSON", "mdoc catalogue --json"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    guard let name = arguments.operand else {
      arguments.print([.document(CatalogueRendering.json)] + DocTypeCatalogue.all.map(CatalogueText.summary))
      return
    }
    guard let definition = DocTypeCatalogue.definition(of: name) else {
      let known = DocTypeCatalogue.all.flatMap(\.spellings)
      throw .unknown(
        "document type", name, among: known, or: " (the catalogue has \(known.joined(separator: ", ")))")
    }
    arguments.print([.document(CatalogueRendering.json(definition))] + CatalogueText.elements(definition, asked: name))
  }
}

/// Renders the catalogue as text.
private enum CatalogueText {
  /// One type: its name, its description, and the number of its elements in each namespace.
  static func summary(_ definition: DocTypeDefinition) -> Report {
    let aliases = definition.aliases.isEmpty ? "" : "Also spelled \(definition.aliases.joined(separator: ", "))"
    return .section([
      .line(.bold(definition.docType)), .paragraph("\(definition.label) · \(definition.source)"),
      .text(["\(aliases)"], lead: aliases.isEmpty ? [] : ["  "], hanging: 2),
      .table(definition.namespaces.map { ($0.name, count($0)) }, indent: 4),
    ])
  }

  /// The elements of one type, and Apple's names if Apple has the type.
  static func elements(_ definition: DocTypeDefinition, asked name: String) -> [Report] {
    let others = definition.spellings.filter { !$0.hasSameBytes(as: name) }.joined(separator: ", ")
    let namespaces = definition.namespaces.map { section($0.name, $0.label, rows($0)) }
    return [.line(.bold(name)), .paragraph("\(definition.label) · \(definition.source)")]
      + (others.isEmpty ? [] : [.paragraph("Other spelling, to be requested separately: \(others)")])
      + namespaces + appleNames(definition.docType)
  }

  private static func section(_ name: String, _ label: String, _ rows: [(String, String)]) -> Report {
    .section([.line(.bold(name), "  ", .faint(label)), .table(rows, leftLimit: 34)])
  }

  /// The names that `apple_element` accepts, with their elements.
  private static func appleNames(_ docType: String) -> [Report] {
    guard let type = AppleDocumentType(docType: docType) else { return [] }
    let rows = type.elementNames.map { name in
      let requests = type.elementRequests(for: name, retention: .none, isRequired: true) ?? []
      return (name, requests.map(\.element.identifier).joined(separator: ", "))
    }
    return [section("apple_element", "Apple's names, for in-app requests", rows)]
  }

  private static func rows(_ namespace: NamespaceDefinition) -> [(String, String)] {
    let ages = namespace.hasAgeAttestations ? [("age_over_NN", "At least NN years old · bool")] : []
    return namespace.elements.map { ($0.identifier, describe($0)) } + ages
  }

  private static func describe(_ element: ElementDefinition) -> String {
    let types = element.types.names.isEmpty ? "any type" : element.types.names.joined(separator: " or ")
    return [element.label, types, element.isMandatory ? "mandatory" : "", element.source ?? ""].filter { !$0.isEmpty }
      .joined(separator: " · ")
  }

  private static func count(_ namespace: NamespaceDefinition) -> String {
    "\(namespace.elements.count) elements" + (namespace.hasAgeAttestations ? " and age_over_NN" : "")
  }
}
