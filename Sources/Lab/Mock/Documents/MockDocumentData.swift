import Base
import CBOR

/// What a document says about its holder: the elements of each namespace, before anything is signed.
package struct MockDocumentData: Sendable {
  package struct Namespace: Sendable {
    package var name: String
    package var elements: [(identifier: String, value: CBORValue)]

    package init(_ name: String, _ elements: [(identifier: String, value: CBORValue)]) {
      self.name = name
      self.elements = elements
    }

    package subscript(identifier: String) -> CBORValue? {
      get { elements.first { $0.identifier == identifier }?.value }
      set {
        guard let index = elements.firstIndex(where: { $0.identifier == identifier }) else {
          if let newValue { elements.append((identifier, newValue)) }
          return
        }
        if let newValue { elements[index].value = newValue } else { elements.remove(at: index) }
      }
    }
  }

  package var docType: String
  package var namespaces: [Namespace]
  /// The NN of the `age_over_NN` that the issuer attests, with `age_in_years` and `age_birth_year`; computed from
  /// `birth_date` for the day on which the document becomes valid (ISO/IEC 18013-5, 7.2.5), in the namespace that has
  /// it. Elements that the data name themselves stay as they are.
  package var ageThresholds: [Int]

  package init(docType: String, namespaces: [Namespace], ageThresholds: [Int] = []) {
    self.docType = docType
    self.namespaces = namespaces
    self.ageThresholds = ageThresholds
  }

  package subscript(namespace: String, identifier: String) -> CBORValue? {
    get { namespaces.first { $0.name == namespace }?[identifier] }
    set {
      guard let index = namespaces.firstIndex(where: { $0.name == namespace }) else {
        if let newValue { namespaces.append(Namespace(namespace, [(identifier, newValue)])) }
        return
      }
      namespaces[index][identifier] = newValue
    }
  }

  /// With the portrait in every namespace that has one made `bytes` long, or as near to it as a JPEG can come from
  /// above.
  package func resizingPortrait(to bytes: Int) -> MockDocumentData {
    var copy = self
    for index in copy.namespaces.indices where copy.namespaces[index]["portrait"] != nil {
      copy.namespaces[index]["portrait"] = .bytes(MockPortrait.jpeg(padded: bytes))
    }
    return copy
  }
}

extension CBORValue {
  /// `full-date`: tag 1004 (RFC 8943).
  package static func fullDate(_ date: FullDate) -> CBORValue { .tagged(1004, .text(date.description)) }

  /// `tdate`: tag 0, without a fraction, in UTC.
  package static func tdate(_ time: Timestamp) -> CBORValue { .tagged(0, .text(time.description)) }

  /// The day of a `full-date` or `tdate`, plain or in the map that ISO/IEC 23220 has for birth dates.
  var calendarDay: FullDate? {
    switch self {
    case .tagged(1004, .text(let text)): FullDate(text)
    case .tagged(0, .text(let text)): Timestamp(rfc3339: text)?.date
    case .map: MapDraft(self)["birth_date"]?.calendarDay
    default: nil
    }
  }
}
