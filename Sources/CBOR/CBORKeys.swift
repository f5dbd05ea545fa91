/// Comparison of items by value, however they are encoded, to find a map's duplicate keys.
struct CBORKeys {
  let bytes: [UInt8]
  let nodes: [CBORNode]

  /// The node of the first key that repeats an earlier one.
  func firstDuplicate(inMapAt map: Int) -> Int? {
    var keys: [Int] = []
    keys.reserveCapacity(Int(nodes[map].value / 2))
    var index = map + 1
    while index < Int(nodes[map].next) {
      keys.append(index)
      index = Int(nodes[Int(nodes[index].next)].next)
    }
    if keys.count <= 8 { return firstDuplicatePairwise(keys) }
    // Hasher is seeded anew in every process: keys cannot be chosen to collide.
    var seen: [Int: [Int]] = [:]
    seen.reserveCapacity(keys.count)
    for key in keys {
      var hasher = Hasher()
      hash(key, into: &hasher)
      let value = hasher.finalize()
      if let others = seen[value], others.contains(where: { isEqual($0, key) }) { return key }
      seen[value, default: []].append(key)
    }
    return nil
  }

  private func firstDuplicatePairwise(_ keys: [Int]) -> Int? {
    for (position, key) in keys.enumerated() {
      for earlier in keys[..<position] where isEqual(earlier, key) { return key }
    }
    return nil
  }

  private func isEqual(_ left: Int, _ right: Int) -> Bool {
    let a = nodes[left]
    let b = nodes[right]
    guard a.kind == b.kind else { return false }
    switch a.kind {
    case .bytes, .text: return content(left).elementsEqual(content(right))
    case .array, .map, .tag:
      guard a.value == b.value else { return false }
      var i = left + 1
      var j = right + 1
      while i < Int(a.next), j < Int(b.next) {
        guard isEqual(i, j) else { return false }
        i = Int(nodes[i].next)
        j = Int(nodes[j].next)
      }
      return i == Int(a.next) && j == Int(b.next)
    default: return a.value == b.value
    }
  }

  private func hash(_ index: Int, into hasher: inout Hasher) {
    let node = nodes[index]
    hasher.combine(node.kind)
    switch node.kind {
    case .bytes, .text:
      let content = content(index)
      content.withUnsafeBytes { hasher.combine(bytes: $0) }
    case .array, .map, .tag:
      hasher.combine(node.value)
      var child = index + 1
      while child < Int(node.next) {
        hash(child, into: &hasher)
        child = Int(nodes[child].next)
      }
    default: hasher.combine(node.value)
    }
  }

  private func content(_ index: Int) -> ArraySlice<UInt8> {
    let node = nodes[index]
    guard node.isChunked else { return bytes[Int(node.content)..<Int(node.end)] }
    return nodes[(index + 1)..<Int(node.next)].reduce(into: []) { $0 += bytes[Int($1.content)..<Int($1.end)] }
  }
}
