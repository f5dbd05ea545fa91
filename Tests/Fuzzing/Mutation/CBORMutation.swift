import CBOR

/// One change to one CBOR item, at any depth; the lengths and counts around it are corrected.
///
/// Bytes beside the path to the item are copied unchanged.
struct CBORMutation {
  private enum Form {
    case leaf, array, map
    case tag(UInt64)
    /// Tag 24 around a byte string around an item, or such a string by itself.
    case embedded, wrapped
  }

  private struct Part {
    let item: CBORItem
    let form: Form
    /// The first part that is not inside this one.
    var end: Int
  }

  private enum Change: CaseIterable { case content, more, bytes, copy, removal, addition }

  /// The item and everything inside it, from the outside in.
  private var parts: [Part] = []
  private var place = 0
  private var change = Change.content
  private var donor: [UInt8] = []

  /// - Returns: nil if the input is not CBOR.
  static func of(_ input: [UInt8], _ random: inout SeededRandom) -> [UInt8]? {
    guard let item = try? CBORItem(parsing: input) else { return nil }
    var mutation = CBORMutation()
    mutation.add(item)
    let parts = mutation.parts
    mutation.place = random.below(parts.count)
    mutation.change = Change.allCases[random.below(Change.allCases.count)]
    mutation.donor = Array(parts[random.below(parts.count)].item.encoded)
    return mutation.written(0, &random).reduce([], +)
  }

  private mutating func add(_ item: CBORItem) {
    let index = parts.count
    func note(_ form: Form) -> Part { Part(item: item, form: form, end: index + 1) }
    if let inner = item.embedded {
      parts.append(note(.embedded))
      add(inner)
    } else if let tag = item.tag, let inner = item.content(ofTag: tag) {
      parts.append(note(.tag(tag)))
      add(inner)
    } else if let elements = item.elements {
      parts.append(note(.array))
      for element in elements { add(element) }
    } else if let entries = item.entries {
      parts.append(note(.map))
      for (key, value) in entries {
        add(key)
        add(value)
      }
    } else if let first = item.bytes?.first, (0x80..<0xe0).contains(first),
      let inner = try? CBORItem(parsingContentOf: item)
    {
      parts.append(note(.wrapped))
      add(inner)
    } else {
      parts.append(note(.leaf))
    }
    parts[index].end = parts.count
  }

  // MARK: Writing

  /// The items in place of a part: none, one, or several.
  private func written(_ index: Int, _ random: inout SeededRandom) -> [[UInt8]] {
    let part = parts[index]
    if index == place { return changed(part, &random) }
    guard (index..<part.end).contains(place) else { return [Array(part.item.encoded)] }
    switch part.form {
    case .leaf: return [Array(part.item.encoded)]
    case .array: return [array(index, &random)]
    case .map: return [map(index, &random)]
    case .tag(let number): return [head { CBORHead.appendTag(number, to: &$0) } + only(index + 1, &random)]
    case .wrapped: return [string(only(index + 1, &random))]
    case .embedded: return [head { CBORHead.appendTag(24, to: &$0) } + string(only(index + 1, &random))]
    }
  }

  /// There is always at least one item.
  private func only(_ index: Int, _ random: inout SeededRandom) -> [UInt8] {
    written(index, &random).first ?? CBORValue.null.encoded()
  }

  private func array(_ index: Int, _ random: inout SeededRandom) -> [UInt8] {
    var elements: [[UInt8]] = []
    var child = index + 1
    while child < parts[index].end {
      elements += written(child, &random)
      child = parts[child].end
    }
    return elements.reduce(into: head { CBORHead.appendArray(count: elements.count, to: &$0) }) { $0 += $1 }
  }

  /// Removing a key or value removes the entry; an added entry takes the next key's name.
  private func map(_ index: Int, _ random: inout SeededRandom) -> [UInt8] {
    var entries: [[UInt8]] = []
    var child = index + 1
    while child < parts[index].end {
      let value = parts[child].end
      let both = [written(child, &random), written(value, &random)]
      if both.allSatisfy({ !$0.isEmpty }) { entries += both.flatMap { $0.prefix(1) } }
      if both[0].count > 1 { entries += [donor, both[1].first ?? donor] }
      if both[1].count > 1 { entries += [donor, both[0].first ?? donor] }
      child = parts[value].end
    }
    // The writer's own map has right heads only around values.
    let count = UInt64(entries.count / 2)
    var output = CBORValue.unsigned(count).encoded()
    output[0] |= 0xa0
    return entries.reduce(into: output) { $0 += $1 }
  }

  private func head(_ append: (inout [UInt8]) -> Void) -> [UInt8] {
    var output: [UInt8] = []
    append(&output)
    return output
  }

  private func string(_ content: [UInt8]) -> [UInt8] { CBORValue.bytes(content).encoded() }

  // MARK: Changes

  private func changed(_ part: Part, _ random: inout SeededRandom) -> [[UInt8]] {
    let own = Array(part.item.encoded)
    switch change {
    case .content: return [content(of: part.item, room: 0, &random) ?? donor]
    case .more: return [content(of: part.item, room: 1 + random.below(32), &random) ?? donor]
    case .bytes: return [Mutator.mutate(own, room: own.count + 8)]
    case .copy: return [donor]
    case .removal: return []
    case .addition: return [own, donor]
    }
  }

  /// The same kind of item with another value; nil for containers.
  private func content(of item: CBORItem, room: Int, _ random: inout SeededRandom) -> [UInt8]? {
    switch item.kind {
    case .bytes:
      let bytes = Array(item.bytes ?? [])
      return CBORValue.bytes(Mutator.mutate(bytes, room: bytes.count + room)).encoded()
    case .text:
      let bytes = Array((item.text ?? "").utf8)
      let changed = Mutator.mutate(bytes, room: bytes.count + room)
      let text = String(validating: changed, as: UTF8.self)
      return CBORValue.text(text ?? String(decoding: changed.map { $0 & 0x7f }, as: UTF8.self)).encoded()
    case .unsigned, .negative:
      let value = item.integer ?? 0
      let values = [value &+ 1, value &- 1, 0, -1, Int64(random.below(1 << 16)), .max, ~value, value << 1]
      return CBORValue.integer(values[random.below(values.count)]).encoded()
    case .bool: return CBORValue.bool(item.bool != true).encoded()
    case .null, .undefined: return CBORValue.bool(true).encoded()
    case .float: return CBORValue.double(Double(random.below(1 << 16))).encoded()
    case .array, .map, .tag: return nil
    }
  }
}
