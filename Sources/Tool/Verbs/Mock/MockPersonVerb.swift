import Base
import CBOR
import Mdoc
import Mock

/// `mdoc mock person`: prints what the mock wallet's documents say, in the form that `--person` reads, to be edited.
enum MockPersonVerb {
  static let command = Command(
    "person", "print the mock wallet's documents, to be edited and read again with --person",
    options: [.documentType, .personSchema],
    notes: [
      "Text, numbers, booleans, arrays and objects stand for themselves, and typed values for an object with one member: "
        + "full_date, tdate, base64, hex, or jpeg_portrait with a number of bytes. A text that is a date becomes a full-date "
        + "where the element's standard has dates. age_over lists the ages that the issuer attests, beside birth_date."
    ],
    examples: [
      .init(
        "Another person's driving licence",
        """
        mdoc mock person --doc-type org.iso.18013.5.1.mDL > person.json
        mdoc mock response --person person.json --new-transcript t.cbor --out r.cbor
        """)
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    if arguments.has(.personSchema) {
      guard !arguments.has(.documentType) else { throw .usage("--schema is for all documents, without --doc-type") }
      console.print(MockPersonSchema.json)
      return .done
    }
    let wanted = arguments.value(.documentType)
    let documents = MockPerson.allDocuments.filter { wanted == nil || $0.docType == wanted }
    guard !documents.isEmpty else {
      let types = MockPerson.allDocuments.map(\.docType)
      let nearest = Spelling.nearest(to: wanted ?? "", among: types).map { "; did you mean \($0)?" } ?? ""
      throw .usage("the mock wallet has no document of type \(wanted ?? "")\(nearest)")
    }
    console.print(documents.count == 1 ? documents[0].json : .array(documents.map(\.json)))
    return .done
  }
}

extension Option {
  fileprivate static let documentType = Option("doc-type", "TYPE", "the document of this type alone")
  fileprivate static let personSchema = Option(flag: "schema", "print the form's JSON Schema and no document")
}

extension MockDocumentData {
  /// The same data, with texts that are dates as full-dates where the element's standard has dates and no texts. The
  /// mock itself knows no standard's types: it shares nothing with the verifier that it tests.
  var withDates: MockDocumentData {
    var copy = self
    let definition = DocTypeCatalogue.definition(of: docType)
    for (place, namespace) in namespaces.enumerated() {
      let known = definition?.namespaces.first { $0.name == namespace.name }?.elements ?? []
      for (index, element) in namespace.elements.enumerated() {
        guard case .text(let text) = element.value, let date = FullDate(text),
          let types = known.first(where: { $0.identifier == element.identifier })?.types,
          types.contains(.fullDate), !types.contains(.text)
        else { continue }
        copy.namespaces[place].elements[index].value = .fullDate(date)
      }
    }
    return copy
  }

  /// A request for all that it says.
  var wholeRequest: MockRequest {
    MockRequest(documents: [
      .init(
        docType: docType,
        elements: namespaces.flatMap { space in space.elements.map { (space.name, $0.identifier) } })
    ])
  }
}
