import Base
import CBOR
import Cryptography

/// Everything about one document that is decided before anything is signed.
struct AnswerSetup: Sendable {
  typealias Element = (namespace: String, identifier: String)

  let authority: MockAuthority
  let now: Timestamp
  /// The answer's own seed.
  let seed: MockSeed
  let requested: MockRequest.Document
  /// All that the wallet holds.
  let held: [MockDocumentData]

  var data: MockDocumentData
  var signer: DocumentSigner
  var deviceKey: PrivateKey
  var digestAlgorithm = HashAlgorithm.sha256
  var digestAlgorithmName = "SHA-256"
  var validity: ValidityInfo
  var keyAuthorizations: CBORValue?
  var status: CBORValue?
  /// Elements that are returned without having been asked for, and those that are not though they were.
  var added: [Element] = []
  var withheld: [Element] = []
  /// Elements that the device itself signs.
  var deviceSigned: [(namespace: String, elements: [(identifier: String, value: CBORValue)])] = []
  var style = EncodingStyle.shortest

  /// The namespace that the document's main elements stand in.
  var mainNamespace: String {
    data.namespaces.first { $0["birth_date"] != nil }?.name ?? data.namespaces.first?.name ?? "org.example.empty"
  }

  /// An element that was asked for and is there: what element variants work on.
  var anyRequested: Element {
    requested.elements.first { data[$0.namespace, $0.identifier] != nil && ageThreshold(of: $0.identifier) == nil }
      ?? (mainNamespace, data.namespaces.first { $0.name == mainNamespace }?.elements.first?.identifier ?? "none")
  }

  /// What is returned: what was asked for, and is there (ISO/IEC 18013-5, 8.3.2.1.2.2 and 7.2.5).
  func disclosed(of data: MockDocumentData) -> [Element] {
    var chosen: [Element] = []
    func choose(_ element: Element) {
      let isWithheld = withheld.contains { $0 == element }
      if !isWithheld, !chosen.contains(where: { $0 == element }) { chosen.append(element) }
    }
    for element in requested.elements {
      if let threshold = ageThreshold(of: element.identifier) {
        if let nearest = nearest(threshold, in: element.namespace, of: data) { choose(nearest) }
      } else if data[element.namespace, element.identifier] != nil {
        choose(element)
      }
    }
    for threshold in requested.ageOver {
      if let nearest = nearest(threshold, in: mainNamespace, of: data) { choose(nearest) }
    }
    for element in added { choose(element) }
    return chosen
  }

  private func nearest(_ threshold: Int, in namespace: String, of data: MockDocumentData) -> Element? {
    guard let elements = data.namespaces.first(where: { $0.name == namespace })?.elements else { return nil }
    let candidates = elements.filter { element in
      !withheld.contains { $0 == (namespace, element.identifier) }
    }
    return nearestAgeAttestation(to: threshold, in: candidates).map { (namespace, $0) }
  }
}
