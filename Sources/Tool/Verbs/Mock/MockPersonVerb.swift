import Base
import CBOR
import Mdoc
import Mock

/// `mdoc mock person`: prints the mock wallet's documents in the form of `--person`, for editing.
enum MockPersonVerb {
  static let command = Command(
    "person", "print the mock wallet's documents, to edit and use with --person",
    options: [.documentType, .personSchema],
    notes: [
      "Text, numbers, booleans, arrays and objects are plain JSON. A typed value is an object with one member: "
        + "full_date, tdate, base64, hex, or jpeg_portrait with a number of bytes. A date as text becomes a full-date "
        + "if the element's standard has dates. age_over lists the ages that the issuer attests, beside birth_date."
    ],
    examples: [
      .init(
        "Make another person's driving licence",
        """
        mdoc mock person --doc-type org.iso.18013.5.1.mDL > person.json
        mdoc mock response --person person.json --new-transcript t.cbor --out r.cbor
        """)
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    if arguments.has(.personSchema) {
      guard !arguments.has(.documentType) else { throw .usage("--schema covers all documents; leave out --doc-type") }
      arguments.console.print(MockDocumentData.listSchema)
      return
    }
    let wanted = arguments.value(.documentType)
    let documents = MockPerson.allDocuments.filter { wanted == nil || $0.docType == wanted }
    guard !documents.isEmpty else {
      throw .unknown("mock document of type", wanted ?? "", among: MockPerson.allDocuments.map(\.docType))
    }
    arguments.console.print(documents.count == 1 ? documents[0].json : .array(documents.map(\.json)))
  }
}

extension Option {
  fileprivate static let documentType = Option("doc-type", "TYPE", "only the document of this type")
  fileprivate static let personSchema = Option(flag: "schema", "print the form's JSON Schema and no document")
}

extension MockDocumentData {
  /// The same data, with text dates converted to full-dates where the standard allows dates but not text. The mock
  /// itself does not know the standards' types, since it shares no code with the verifier under test.
  var withDates: MockDocumentData {
    var copy = self
    let definition = DocTypeCatalogue.definition(of: docType)
    for (number, namespace) in namespaces.enumerated() {
      let known = definition?.namespaces.first { $0.name == namespace.name }?.elements ?? []
      for (index, element) in namespace.elements.enumerated() {
        guard case .text(let text) = element.value, let date = FullDate(text),
          let types = known.first(where: { $0.identifier == element.identifier })?.types,
          types.contains(.fullDate), !types.contains(.text)
        else { continue }
        copy.namespaces[number].elements[index].value = .fullDate(date)
      }
    }
    return copy
  }

  /// A request for all elements of the document.
  var wholeRequest: MockRequest {
    MockRequest(documents: [
      .init(
        docType: docType, elements: namespaces.flatMap { space in space.elements.map { (space.name, $0.identifier) } })
    ])
  }
}
