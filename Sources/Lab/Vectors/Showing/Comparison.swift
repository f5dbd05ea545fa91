import Base

/// The differences between a case and a correct case, value by value. All cases are made from one seed. Only the fault
/// and its consequences, such as a signature, differ.
package struct Comparison: Sendable {
  /// A path with its two values; nil on the side without a value.
  package struct Difference: Sendable, Hashable {
    package let path: String
    package let right: String?
    package let this: String?
  }

  package let id: String
  /// The differences of each layer and of the circumstances.
  package private(set) var parts: [(title: String, differences: [Difference])] = []

  package var count: Int { parts.reduce(0) { $0 + $1.differences.count } }

  /// Compares with the case that the file references. Without a reference, compares with the most similar correct case
  /// of the same protocol. Nil if there is no such case, or if nothing can be compared.
  package init?(of vector: TestVector, in suite: VectorSuite) {
    guard !Self.isRight(vector) else { return nil }
    let named = vector.input.parts.compactMap(\.origin?.vector).first
    let others = suite.entries.map(\.vector).filter { other in
      guard other.id != vector.id else { return false }
      if let named { return other.id == named }
      return Self.isRight(other) && other.session.protocolName == vector.session.protocolName
    }
    guard let best = others.compactMap({ Comparison(vector, $0) }).min(by: { $0.count < $1.count }), best.count > 0
    else { return nil }
    self = best
  }

  private static func isRight(_ vector: TestVector) -> Bool {
    vector.expectation.isAccepted && vector.description.contains("othing is wrong")
  }

  private init?(_ vector: TestVector, _ right: TestVector) {
    id = right.id
    let rightLayers = right.layers
    for (index, layer) in vector.layers.enumerated() where rightLayers.indices.contains(index) {
      guard let found = Self.differences(layer, rightLayers[index]) else { return nil }
      add(layer.title, found)
    }
    guard let (own, other) = Leaves.pair(vector.circumstances, right.circumstances)
    else { return nil }
    add("Circumstances", Self.differences(own, other))
  }

  private mutating func add(_ title: String, _ differences: [Difference]) {
    if !differences.isEmpty { parts.append((title, differences)) }
  }

  /// The differences of a layer; nil if there is too much to compare.
  private static func differences(_ layer: ResponseLayer, _ right: ResponseLayer) -> [Difference]? {
    switch (layer.content, right.content) {
    case (.json(let own), .json(let other)):
      return Leaves.pair(own, other).map { differences($0, $1) }
    case (.cbor(let own), .cbor(let other)):
      guard let leaves = Leaves(cbor: own), let rightLeaves = Leaves(cbor: other) else { return bytes(own, other) }
      let found = differences(leaves, rightLeaves).filter { difference in
        // The next layer compares the decrypted content, so ignore the ciphertext.
        !(layer.isOpened && ["data", "cipherText"].contains { difference.path.hasSuffix($0) })
      }
      return found.isEmpty && own != other && !layer.isOpened ? bytes(own, other) : found
    case (.bytes(let own), .bytes(let other)), (.cbor(let own), .bytes(let other)), (.bytes(let own), .cbor(let other)):
      return bytes(own, other)
    default: return nil
    }
  }

  private static func differences(_ leaves: Leaves, _ right: Leaves) -> [Difference] {
    let changes = leaves.all.map(\.identity).difference(from: right.all.map(\.identity))
    func offset(_ change: CollectionDifference<String>.Change) -> Int {
      switch change {
      case .insert(let offset, _, _), .remove(let offset, _, _): offset
      }
    }
    var removed = changes.removals.map { right.all[offset($0)] }
    var found: [Difference] = changes.insertions.map { leaves.all[offset($0)] }.map { leaf in
      guard let index = removed.firstIndex(where: { $0.path == leaf.path }) else {
        return Difference(path: leaf.path, right: nil, this: LeafText.text(leaf))
      }
      let (before, after) = LeafText.texts(removed.remove(at: index), leaf)
      return Difference(path: leaf.path, right: before, this: after)
    }
    found += removed.map { Difference(path: $0.path, right: LeafText.text($0), this: nil) }
    return found
  }

  /// The first difference of the bytes.
  private static func bytes(_ own: [UInt8], _ right: [UInt8]) -> [Difference] {
    guard own != right else { return [] }
    let (before, after) = LeafText.texts(right, own)
    return [Difference(path: "its bytes", right: before, this: after)]
  }
}

extension Leaves {
  fileprivate static func pair(_ json: JSON, _ other: JSON) -> (Leaves, Leaves)? {
    guard let own = Leaves(json: json), let right = Leaves(json: other) else { return nil }
    return (own, right)
  }
}

/// Values on one line. Long byte strings are shown from their first difference.
private enum LeafText {
  private static let shown = 32

  static func text(_ leaf: Leaf) -> String {
    switch leaf.value {
    case .text(let text): text.count > 200 ? "\(text.prefix(200))… (\(text.count) characters)" : text
    case .bytes(let bytes) where bytes.count <= shown: "h'\(Hex.encode(bytes))'"
    case .bytes(let bytes): "h'\(Hex.encode(Array(bytes.prefix(16))))…' (\(bytes.count) bytes)"
    }
  }

  static func texts(_ right: Leaf, _ own: Leaf) -> (String, String) {
    if case .bytes(let before) = right.value, case .bytes(let after) = own.value, before != after {
      return texts(before, after)
    }
    let (before, after) = (text(right), text(own))
    guard before == after else { return (before, after) }
    return ("\(before), \(wrapping(right.tags))", "\(after), \(wrapping(own.tags))")
  }

  static func texts(_ right: [UInt8], _ own: [UInt8]) -> (String, String) {
    guard max(right.count, own.count) > shown else { return ("h'\(Hex.encode(right))'", "h'\(Hex.encode(own))'") }
    let start = zip(right, own).prefix { $0 == $1 }.count
    func window(_ bytes: [UInt8]) -> String {
      let part = Hex.encode(Array(bytes.dropFirst(start).prefix(12)))
      let rest = bytes.count > start + 12 ? "…" : ""
      return part.isEmpty
        ? "ends after \(bytes.count) bytes"
        : "h'\(start > 0 ? "…" : "")\(part)\(rest)' from byte \(start) of \(bytes.count)"
    }
    return (window(right), window(own))
  }

  private static func wrapping(_ tags: String) -> String {
    let names = tags.split(separator: " ").map {
      $0 == "bytes" ? "a byte string" : $0 == "base64" ? "base64" : "tag \($0)"
    }
    return names.isEmpty ? "bare" : "in " + names.joined(separator: ", ")
  }
}
