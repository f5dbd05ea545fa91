import Base
import Mdoc
import Sessions

/// `mdoc catalogue`: the document types that the standards describe, and the elements of one.
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
    if let nearest = NearestName.of(name, among: known) {
      return "the catalogue has no document type \(name); did you mean \(nearest)?"
    }
    return "the catalogue has no document type \(name); it has \(known.joined(separator: ", "))"
  }
}
