import Base
import CBOR

extension MockVariant {
  /// Wrong issuer-signed items and digests (ISO/IEC 18013-5, 9.1.2.5).
  @MockVariantList static var items: [MockVariant] {
    MockVariant(
      "element-changed", "A returned element's value was changed after it was digested.", cases: "E01 E11",
      codes: [.digestMismatch], .disclosure { try $0.changeTarget { $0.value = "Mallory" } })
    MockVariant(
      "digests-without-namespace", "The MSO has no digests for a returned namespace.", cases: "E02",
      codes: [.digestMissing],
      .digests { draft in
        let namespace = draft.items.setup.anyRequested.namespace
        draft.namespaces.removeAll { $0.name == namespace }
      })
    MockVariant(
      "digest-missing", "The MSO has no digest for a returned element.", cases: "E03", codes: [.digestMissing],
      .digests { try $0.changeTarget { _ in nil } })
    MockVariant(
      "digest-truncated", "A digest has its first 16 bytes only.", cases: "E10", codes: [.digestMismatch],
      .digests { try $0.changeTarget { Array($0.prefix(16)) } })
    MockVariant(
      "digest-longer", "A zero byte follows a digest.", cases: "E10", codes: [.digestMismatch],
      .digests { try $0.changeTarget { $0 + [0] } })
    MockVariant(
      "element-twice", "The same item is returned twice.", cases: "E04", codes: [.elementDuplicate],
      .disclosure { draft in
        let (namespace, item) = try draft.target()
        draft.namespaces[namespace].items.append(draft.namespaces[namespace].items[item])
      })
    MockVariant(
      "element-contradictory", "An element is returned twice, with two values, both of them signed.", cases: "E05",
      codes: [.elementDuplicate],
      .items { draft in
        let (namespace, item) = try draft.target()
        var second = draft.namespaces[namespace].items[item]
        second.digestID = draft.namespaces[namespace].freeDigestID
        second.value = "Mallory"
        draft.namespaces[namespace].items.append(second)
      })
    MockVariant(
      "digest-id-twice", "Two different elements come with one digestID.", cases: "E06", codes: [.digestIDDuplicate],
      .disclosure { draft in
        let (namespace, item) = try draft.target()
        let identifier = draft.namespaces[namespace].items[item].digestID
        guard let other = draft.namespaces[namespace].items.indices.first(where: { $0 != item }) else {
          throw MockError.nothingToChange("only one element is returned")
        }
        draft.namespaces[namespace].items[other].digestID = identifier
      })
    MockVariant(
      "element-moved", "An item stands in another namespace, whose item of that digestID it is not.", cases: "E07",
      codes: [.digestMismatch],
      .init(
        items: { draft in
          // The other namespace has a digest of this identifier too.
          let (namespace, item) = try draft.target()
          let moved = draft.namespaces[namespace].items[item].digestID
          if let swapped = draft.namespaces[namespace].items.firstIndex(where: { $0.digestID == 0 }) {
            draft.namespaces[namespace].items[swapped].digestID = moved
          }
          draft.namespaces[namespace].items[item].digestID = 0
        },
        disclosure: { draft in
          try draft.moveTarget(
            to: draft.setup.data.namespaces.map(\.name).first { $0 != draft.setup.anyRequested.namespace }
              ?? "org.evil.1")
        }))
    MockVariant(
      "element-moved-to-new-namespace", "An item stands in a namespace that the MSO does not know.", cases: "E07",
      codes: [.digestMissing], .disclosure { try $0.moveTarget(to: "org.evil.1") })
    MockVariant(
      "random-short", "An item's random value has 15 bytes.", cases: "E08", warnings: [.itemRandomTooShort],
      .items { try $0.changeTarget { $0.fields["random"] = .bytes(Array($0.fields.bytes("random").prefix(15))) } })
    for (name, id) in [("2-31", UInt64(1) << 31), ("largest", .max)] {
      MockVariant(
        "digest-id-\(name)", "An item's digestID is \(id), which is not below 2^31.", warnings: [.digestIDOutOfRange],
        .items { try $0.changeTarget { $0.digestID = id } })
    }
    MockVariant(
      "item-digestid-negative", "An item's digestID is negative.", cases: "E09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = -1 } })
    for member in ["random", "elementIdentifier", "elementValue"] {
      malformed("item-without-\(member.lowercased())", "An item lacks its \(member).") { $0.fields[member] = nil }
    }
    malformed("item-identifier-bytes", "An item's elementIdentifier is a byte string.") {
      $0.fields["elementIdentifier"] = .bytes(Array($0.identifier.utf8))
    }
    malformed("item-random-text", "An item's random value is text.") { $0.fields["random"] = "random" }
    MockVariant(
      "item-without-digestid", "An item lacks its digestID.", cases: "E09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = nil } })
    MockVariant(
      "item-digestid-text", "An item's digestID is text.", cases: "E09", codes: [.itemMalformed],
      .disclosure { try $0.changeTarget { $0.fields["digestID"] = .text("\($0.digestID)") } })
  }

  /// A malformed item, which the issuer digests and signs as it is.
  private static func malformed(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout IssuedItem) -> Void
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "E09", codes: [.itemMalformed], .items { try $0.changeTarget { change(&$0) } })
  }
}

extension ItemsDraft {
  fileprivate mutating func moveTarget(to name: String) throws {
    let (namespace, item) = try target()
    let moved = namespaces[namespace].items.remove(at: item)
    if let index = namespaces.firstIndex(where: { $0.name == name }) {
      namespaces[index].items.append(moved)
    } else {
      namespaces.append(IssuedNamespace(name: name, items: [moved]))
    }
  }
}
