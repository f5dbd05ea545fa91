import Base
import Mdoc
import Mock
import Sessions

/// The request that a mock wallet answers: given in the HTTP API's shape, or the one that shows the variant best.
enum MockRequestFile {
  static func request(
    _ arguments: ParsedArguments, for family: ProtocolFamily, variant: MockVariant
  ) throws(Failure) -> MockRequest {
    guard let request = try RequestFile.request(arguments.value(.mockRequest), for: family) else {
      return variant.request
    }
    return MockRequest(
      documents: request.documents.map { document in
        MockRequest.Document(
          docType: document.docType,
          elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
          ageOver: document.ageThresholds)
      })
  }
}
