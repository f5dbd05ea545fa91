import Base

/// The part of JSON Schema 2020-12 that the suite's schema uses; an unknown keyword is a violation, so that none is
/// skipped in silence.
struct SchemaCheck {
  let schema: JSON

  func violations(of value: JSON) -> [String] { violations(of: value, schema, at: "") }

  private func violations(of value: JSON, _ schema: JSON, at place: String) -> [String] {
    (schema.object ?? []).flatMap { keyword in
      structure(value, keyword, in: schema, at: place) ?? limit(value, keyword, at: place)
        ?? ["\(place): the schema has the unknown keyword \(keyword.name)"]
    }
  }

  /// Keywords that lead to further schemas.
  private func structure(_ value: JSON, _ keyword: JSON.Member, in schema: JSON, at place: String) -> [String]? {
    switch keyword.name {
    case "$ref":
      let name = keyword.value.string?.split(separator: "/").last.map(String.init) ?? ""
      guard let target = self.schema["$defs"]?[name] else { return ["\(place): the schema has no \(name)"] }
      return violations(of: value, target, at: place)
    case "properties":
      return (value.object ?? []).flatMap { member in
        keyword.value[member.name].map { violations(of: member.value, $0, at: "\(place)/\(member.name)") } ?? []
      }
    case "additionalProperties":
      let known = (schema["properties"]?.object ?? []).map(\.name)
      return (value.object ?? []).filter { !known.contains($0.name) }.map { "\(place)/\($0.name): is not known" }
    case "items":
      return (value.array ?? []).enumerated().flatMap {
        violations(of: $0.element, keyword.value, at: "\(place)/\($0.offset)")
      }
    case "oneOf":
      let matches = (keyword.value.array ?? []).count { violations(of: value, $0, at: place).isEmpty }
      return matches == 1 ? [] : ["\(place): fits \(matches) forms in place of one"]
    case "$schema", "$defs", "title", "description": return []
    default: return nil
    }
  }

  private func limit(_ value: JSON, _ keyword: JSON.Member, at place: String) -> [String]? {
    let isKept: Bool
    switch keyword.name {
    case "type": isKept = has(value, type: keyword.value.string ?? "")
    case "enum": isKept = keyword.value.array?.contains(value) == true
    case "required":
      return (keyword.value.array ?? []).compactMap(\.string).filter { value.object != nil && value[$0] == nil }
        .map { "\(place)/\($0): is missing" }
    case "minLength": isKept = value.string.map { Int64($0.count) >= keyword.value.integer ?? 0 } ?? true
    case "minItems": isKept = value.array.map { Int64($0.count) >= keyword.value.integer ?? 0 } ?? true
    case "minimum": isKept = value.integer.map { $0 >= keyword.value.integer ?? 0 } ?? true
    case "uniqueItems": isKept = value.array.map { Set($0).count == $0.count } ?? true
    case "pattern": isKept = value.string.map { matches($0, keyword.value.string ?? "") } ?? true
    default: return nil
    }
    return isKept ? [] : ["\(place): does not keep \(keyword.name) \(keyword.value.text())"]
  }

  private func matches(_ text: String, _ pattern: String) -> Bool {
    guard let expression = try? Regex(pattern) else { return false }
    return text.firstMatch(of: expression) != nil
  }

  private func has(_ value: JSON, type: String) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("integer", .integer), ("boolean", .bool): true
    default: false
    }
  }
}
