import CBOR
import Cryptography

/// The changes that a variant makes to the stages of a response.
///
/// Later stages work on the changed draft, so the rest of the response remains correct. For example, if an item is
/// duplicated before digesting, both copies are digested and signed.
struct MockMutation: Sendable {
  private struct Change<Draft>: Sendable {
    let stage: String
    let apply: MockChange<Draft>
  }

  private var changes: [any Sendable] = []

  static let none = MockMutation()

  init() {}

  init<Draft>(_ stage: EditStage<Draft>, _ change: @escaping MockChange<Draft>) { add(stage, change) }

  mutating func add<Draft>(_ stage: EditStage<Draft>, _ change: @escaping MockChange<Draft>) {
    changes.append(Change(stage: stage.name, apply: change))
  }

  static func + (left: MockMutation, right: MockMutation) -> MockMutation {
    var sum = left
    sum.changes += right.changes
    return sum
  }

  /// Applies the changes of this stage, in their order.
  func apply<Draft>(_ stage: EditStage<Draft>, to draft: inout Draft) throws {
    for case let change as Change<Draft> in changes where change.stage == stage.name { try change.apply(&draft) }
  }

  var settings: ResponseSettings {
    get throws {
      var settings = ResponseSettings()
      try apply(Stages.settings, to: &settings)
      return settings
    }
  }
}

/// The settings chosen before a response is made.
struct ResponseSettings {
  var style = EncodingStyle.shortest
  /// The proof's time minus the response's time, in seconds.
  var proofTime: Int64 = 0
}

/// A DeviceResponse, and a function that makes further documents for it.
struct ResponseDraft {
  var fields: MapDraft
  let request: MockRequest
  /// Makes another document of the first document's type. Applies `change`, and uses new random values.
  let anotherDocument: (_ label: String, _ change: MockMutation) throws -> CBORValue
}

/// The plaintext of Apple's envelope.
struct PlaintextDraft {
  let response: [UInt8]
  /// `{"identity": DeviceResponse}`.
  var value: CBORValue

  init(response: [UInt8]) {
    self.response = response
    value = ["identity": .encoded(response)]
  }
}

/// The items of a document: at first all items that the issuer signs, later the items that the wallet returns.
struct ItemsDraft {
  let setup: DocumentSetup
  var namespaces: [IssuedNamespace]

  /// The item of a requested element (`DocumentSetup.anyRequested`).
  var target: IssuedItem {
    get throws {
      let (namespace, item) = try targetIndex
      return namespaces[namespace].items[item]
    }
  }

  mutating func changeTarget(_ change: (inout IssuedItem) throws -> Void) throws {
    let (namespace, item) = try targetIndex
    try change(&namespaces[namespace].items[item])
  }

  /// The indices of `target` and of its namespace.
  var targetIndex: (namespace: Int, item: Int) {
    get throws {
      let element = setup.anyRequested
      for (namespace, items) in namespaces.enumerated() where items.name == element.namespace {
        if let item = items.items.firstIndex(where: { $0.identifier == element.identifier }) {
          return (namespace, item)
        }
      }
      throw MockError.nothingToChange("\(element.namespace)/\(element.identifier) is missing")
    }
  }
}

/// The digests of the mobile security object.
struct DigestsDraft {
  let items: ItemsDraft
  var namespaces: [DigestNamespace]

  /// The digest of a requested element (`DocumentSetup.anyRequested`); `setTarget(nil)` removes the digest.
  func target() throws -> [UInt8]? {
    let identifier = try items.target.digestID
    return namespaces[try items.targetIndex.namespace].digests.first { $0.id == identifier }?.digest
  }

  mutating func setTarget(_ digest: [UInt8]?) throws {
    let identifier = try items.target.digestID
    let namespace = try items.targetIndex.namespace
    namespaces[namespace].digests = namespaces[namespace].digests.compactMap { entry in
      entry.id == identifier ? digest.map { (entry.id, $0) } : entry
    }
  }
}
