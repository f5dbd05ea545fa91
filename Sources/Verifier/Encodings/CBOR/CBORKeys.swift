import Glibc

/// Finds a map's duplicate keys (RFC 8949, 5.6.1). Items are compared by value, not by encoding.
struct CBORKeys {
  let bytes: UnsafeBufferPointer<UInt8>
  let nodes: UnsafeBufferPointer<CBORNode>

  /// The node of the first duplicate key.
  func firstDuplicate(inMapAt map: Int) -> Int? {
    let end = Int(nodes[map].next)
    var key = map + 1
    var isSmall = nodes[map].value <= 16
    while key < end, isSmall {
      var earlier = map + 1
      while earlier < key {
        if isEqual(earlier, key) { return key }
        earlier = keyAfter(earlier)
      }
      key = keyAfter(key)
      isSmall = key == end || !nodes[key].kind.isContainer
    }
    return isSmall ? nil : firstDuplicateByHash(inMapAt: map)
  }

  /// Finds duplicates in large maps and in maps with containers as keys.
  private func firstDuplicateByHash(inMapAt map: Int) -> Int? {
    var keys = hashes(ofMapAt: map, sortingHash)
    keys.sort { ($0.hash, $0.key) < ($1.hash, $1.key) }
    var first = 0
    for position in keys.indices.dropFirst() {
      if keys[position].hash != keys[first].hash {
        first = position
      } else if let earlier = keys[first..<position].first(where: { isEqual($0.key, keys[position].key) }) {
        return max(earlier.key, keys[position].key)
      }
    }
    return nil
  }

  /// The node of the next key.
  private func keyAfter(_ key: Int) -> Int { Int(nodes[Int(nodes[key].next)].next) }

  // MARK: Equality

  private func isEqual(_ left: Int, _ right: Int) -> Bool {
    let a = nodes[left]
    let b = nodes[right]
    guard a.kind == b.kind else { return false }
    switch a.kind {
    case .bytes, .text:
      if a.isChunked || b.isChunked { return joined(left) == joined(right) }
      return a.end - a.content == b.end - b.content && hasSameContent(a, b)
    case .map: return a.value == b.value && isEqualMap(left, right)
    case .array, .tag: return a.value == b.value && isEqualSequence(left, right)
    default: return a.value == b.value
    }
  }

  private func isEqualSequence(_ left: Int, _ right: Int) -> Bool {
    var i = left + 1
    var j = right + 1
    while i < Int(nodes[left].next), j < Int(nodes[right].next) {
      guard isEqual(i, j) else { return false }
      i = Int(nodes[i].next)
      j = Int(nodes[j].next)
    }
    return i == Int(nodes[left].next) && j == Int(nodes[right].next)
  }

  /// The order of entries is not part of a map's value. Equal maps therefore have equal entries after sorting by hash.
  private func isEqualMap(_ left: Int, _ right: Int) -> Bool {
    let a = entriesByHash(left)
    let b = entriesByHash(right)
    return a.elementsEqual(b) { $0.hash == $1.hash }
      && a.elementsEqual(b) {
        isEqual($0.key, $1.key) && isEqual(Int(nodes[$0.key].next), Int(nodes[$1.key].next))
      }
  }

  private func entriesByHash(_ map: Int) -> [(hash: Int, key: Int)] {
    hashes(ofMapAt: map) { hash($0, Int(nodes[$0].next)) }.sorted { $0.hash < $1.hash }
  }

  // MARK: Hashes

  private func hashes(ofMapAt map: Int, _ hash: (Int) -> Int) -> [(hash: Int, key: Int)] {
    var keys: [(hash: Int, key: Int)] = []
    keys.reserveCapacity(Int(nodes[map].value / 2))
    var key = map + 1
    while key < Int(nodes[map].next) {
      keys.append((hash(key), key))
      key = keyAfter(key)
    }
    return keys
  }

  /// An unsigned integer is its own hash. The hashes of other items differ in each process, so that nobody can choose
  /// colliding keys.
  private func sortingHash(_ key: Int) -> Int {
    nodes[key].kind == .unsigned ? Int(truncatingIfNeeded: nodes[key].value) : hash(key)
  }

  private func hash(_ index: Int, _ other: Int? = nil) -> Int {
    var hasher = Hasher()
    hash(index, into: &hasher)
    if let other { hash(other, into: &hasher) }
    return hasher.finalize()
  }

  private func hash(_ index: Int, into hasher: inout Hasher) {
    let node = nodes[index]
    hasher.combine(node.kind)
    switch node.kind {
    case .bytes, .text:
      if node.isChunked {
        hasher.combine(joined(index))
      } else {
        let content = content(node)
        hasher.combine(content.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(content))
      }
    case .map:
      hasher.combine(node.value)
      hasher.combine(entriesByHash(index).reduce(0) { $0 &+ $1.hash })
    case .array, .tag:
      hasher.combine(node.value)
      var child = index + 1
      while child < Int(node.next) {
        hash(child, into: &hasher)
        child = Int(nodes[child].next)
      }
    default: hasher.combine(node.value)
    }
  }

  // MARK: Content of strings

  private func content(_ node: CBORNode) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[Int(node.content)..<Int(node.end)])
  }

  /// True if two strings of equal length, without chunks, have the same content.
  private func hasSameContent(_ a: CBORNode, _ b: CBORNode) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return memcmp(start + Int(a.content), start + Int(b.content), Int(a.end - a.content)) == 0
  }

  private func joined(_ index: Int) -> [UInt8] {
    let node = nodes[index]
    guard node.isChunked else { return Array(content(node)) }
    return nodes[(index + 1)..<Int(node.next)].reduce(into: []) { $0 += content($1) }
  }
}

extension CBORItem.Kind {
  fileprivate var isContainer: Bool { self == .array || self == .map || self == .tag }
}
