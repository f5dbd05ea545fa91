import Base
import Mdoc
import Presentation
import Sessions

/// `mdoc catalogue`: lists the document types that the standards describe, or the elements of one.
enum CatalogueCommand {
  static let command = Command(
    "catalogue", "list the known document types, or the elements of one with their types",
    options: [.json],
    operand: Operand(placeholder: "DOCTYPE", help: "the document type whose elements to list", isOptional: true),
    notes: [
      "Requests may name other document types and elements too: their values are taken as their CBOR has them."
    ],
    examples: [
      .init("Every document type", "mdoc catalogue"),
      .init("What can a driving licence be asked for?", "mdoc catalogue org.iso.18013.5.1.mDL"),
      .init("The whole catalogue for programs", "mdoc catalogue --json"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard let name = arguments.operand else {
      if arguments.has(.json) {
        console.print(CatalogueRendering.json)
      } else {
        console.print(DocTypeCatalogue.all.map { CatalogueText.summary($0, console) }.joined(separator: "\n\n"))
      }
      return .done
    }
    guard let definition = DocTypeCatalogue.definition(of: name) else { throw .usage(unknown(name)) }
    if arguments.has(.json) {
      console.print(CatalogueRendering.json(definition))
    } else {
      console.print(CatalogueText.elements(definition, asked: name, console))
    }
    return .done
  }

  private static func unknown(_ name: String) -> String {
    let known = DocTypeCatalogue.all.flatMap(\.spellings)
    if let nearest = Spelling.nearest(to: name, among: known) {
      return "the catalogue has no document type \(name); did you mean \(nearest)?"
    }
    return "the catalogue has no document type \(name); it has \(known.joined(separator: ", "))"
  }
}

/// The catalogue for people.
enum CatalogueText {
  /// One type: its name, its description, and how many elements it has in which namespaces.
  static func summary(_ definition: DocTypeDefinition, _ console: Console) -> String {
    let style = Style(isColored: console.isColored)
    let rows = [
      "\(definition.label) · \(definition.source)",
      definition.aliases.isEmpty ? "" : "Also spelled \(definition.aliases.joined(separator: ", "))",
    ]
    let namespaces = definition.namespaces.map { ($0.name, count($0)) }
    return
      ([style(definition.docType, .bold)] + rows.filter { !$0.isEmpty }.map { indented($0, console.width) }
      + [Wrapping.columns(namespaces, indent: 4, width: console.width)]).joined(separator: "\n")
  }

  /// The elements of one type.
  static func elements(_ definition: DocTypeDefinition, asked name: String, _ console: Console) -> String {
    let style = Style(isColored: console.isColored)
    var head = style(name, .bold) + "\n" + indented("\(definition.label) · \(definition.source)", console.width)
    let others = definition.spellings.filter { !$0.hasSameBytes(as: name) }
    if !others.isEmpty {
      head += "\n" + indented("Another spelling, asked for by itself: \(others.joined(separator: ", "))", console.width)
    }
    let sections = definition.namespaces.map { namespace in
      style(namespace.name, .bold) + "  " + style(namespace.label, .faint) + "\n"
        + Wrapping.columns(rows(namespace), leftLimit: 34, width: console.width)
    }
    return ([head] + sections + appleNames(definition.docType, console)).joined(separator: "\n\n")
  }

  /// The names that `apple_element` takes, with the elements that each stands for; none for a type that Apple does not
  /// have.
  private static func appleNames(_ docType: String, _ console: Console) -> [String] {
    guard let type = AppleDocumentType(docType: docType) else { return [] }
    let rows = type.elementNames.map { name in
      let requests = type.elementRequests(for: name, retention: .none, isRequired: true) ?? []
      return (name, requests.map(\.element.identifier).joined(separator: ", "))
    }
    let style = Style(isColored: console.isColored)
    return [
      style("apple_element", .bold) + "  " + style("Apple's names, for requests in-app", .faint) + "\n"
        + Wrapping.columns(rows, leftLimit: 34, width: console.width)
    ]
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

  private static func indented(_ text: String, _ width: Int) -> String {
    "  " + Wrapping.wrap(text, indent: 2, width: width)
  }
}
