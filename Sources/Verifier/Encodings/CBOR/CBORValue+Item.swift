extension CBORValue {
  /// A parsed item to be written again, for tests of reader and writer against each other; nil where the writer has no
  /// such form: narrow floats and `undefined`.
  package init?(_ item: CBORItem) {
    switch item.kind {
    case .unsigned: self = .unsigned(item.unsigned ?? 0)
    case .negative: self = .negative(item.negativeArgument ?? 0)
    case .bytes: self = .bytes(Array(item.bytes ?? []))
    case .text: self = .text(item.text ?? "")
    case .bool: self = .bool(item.bool ?? false)
    case .null: self = .null
    case .undefined: return nil
    case .float:
      guard item.encoded.first == 0xfb else { return nil }
      self = .double(item.double ?? 0)
    case .array:
      let values = (item.elements.map { Array($0) } ?? []).compactMap { CBORValue($0) }
      guard values.count == item.count else { return nil }
      self = .array(values)
    case .map:
      let values = (item.entries.map { Array($0) } ?? []).compactMap { entry in
        CBORValue(entry.key).flatMap { key in CBORValue(entry.value).map { (key: key, value: $0) } }
      }
      guard values.count == item.count else { return nil }
      self = .map(values)
    case .tag:
      guard let number = item.tag, let content = item.content(ofTag: number).flatMap({ CBORValue($0) }) else {
        return nil
      }
      self = .tagged(number, content)
    }
  }
}
