import CBOR

/// A DeviceResponse to be made, with the means to make further documents for it.
struct ResponseDraft {
  var fields: MapDraft
  let request: MockRequest
  /// Another document of the first one's type, made with `change` and with its own random values.
  let anotherDocument: (_ label: String, _ change: MockMutation) throws -> CBORValue

  var documents: [CBORValue] {
    get { if case .array(let documents)? = fields["documents"] { documents } else { [] } }
    set { fields["documents"] = .array(newValue) }
  }
}

/// What Apple's envelope is to hold.
struct PlaintextDraft {
  let response: [UInt8]
  /// `{"identity": DeviceResponse}`.
  var value: CBORValue

  init(response: [UInt8]) {
    self.response = response
    value = ["identity": .encoded(response)]
  }
}

/// The items of a document: all that the issuer signs, or later those that the wallet returns.
struct ItemsDraft {
  let setup: AnswerSetup
  var namespaces: [IssuedNamespace]

  /// Changes the item that stands for any requested element.
  mutating func changeTarget(_ change: (inout IssuedItem) throws -> Void) throws {
    let (namespace, item) = try target()
    try change(&namespaces[namespace].items[item])
  }

  /// Where it stands.
  func target() throws -> (namespace: Int, item: Int) {
    let element = setup.anyRequested
    for (namespace, items) in namespaces.enumerated() where items.name == element.namespace {
      if let item = items.items.firstIndex(where: { $0.identifier == element.identifier }) { return (namespace, item) }
    }
    throw MockError.nothingToChange("\(element.namespace)/\(element.identifier) is not there")
  }
}

/// The digests that go into the mobile security object.
struct DigestsDraft {
  let items: ItemsDraft
  var namespaces: [DigestNamespace]

  /// Changes the digest of any requested element; nil removes it.
  mutating func changeTarget(_ change: ([UInt8]) -> [UInt8]?) throws {
    let (namespace, item) = try items.target()
    let identifier = items.namespaces[namespace].items[item].digestID
    namespaces[namespace].digests = namespaces[namespace].digests.compactMap { entry in
      guard entry.id == identifier else { return entry }
      return change(entry.digest).map { (entry.id, $0) }
    }
  }
}
