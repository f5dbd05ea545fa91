import Base

/// Enough of JSON Schema 2020-12 to hold requests and replies against our own document; an unknown keyword is a violation, so that
/// none is skipped in silence.
struct SchemaChecker {
  let document: JSON

  func violations(of value: JSON, _ schema: JSON, at place: String) -> [String] {
    guard let keywords = schema.object else { return ["\(place): the schema is no object"] }
    return keywords.flatMap { check(value, $0, in: schema, at: place) }
  }

  private func check(_ value: JSON, _ keyword: JSON.Member, in schema: JSON, at place: String) -> [String] {
    switch keyword.name {
    case "$ref":
      let name = keyword.value.string?.split(separator: "/").last.map(String.init) ?? ""
      guard let target = (document["components"]?["schemas"] ?? document["$defs"])?[name] else {
        return ["\(place): no schema \(name)"]
      }
      return violations(of: value, target, at: place)
    case "type":
      let types = keyword.value.array?.compactMap(\.string) ?? [keyword.value.string ?? ""]
      return types.contains { has(value, type: $0) } ? [] : ["\(place): is no \(types.joined(separator: "|"))"]
    case "const": return value == keyword.value ? [] : ["\(place): is not \(keyword.value.text())"]
    // Clients must not mind codes that they do not know; the server has none but these.
    case "enum", "x-extensible-enum":
      return keyword.value.array?.contains(value) == true ? [] : ["\(place): \(value.text()) is not listed"]
    case "properties":
      return (value.object ?? []).flatMap { member in
        keyword.value[member.name].map { violations(of: member.value, $0, at: "\(place)/\(member.name)") } ?? []
      }
    case "required":
      return (keyword.value.array ?? []).compactMap(\.string).filter { value.object != nil && value[$0] == nil }
        .map { "\(place)/\($0): is missing" }
    case "additionalProperties":
      let known = (schema["properties"]?.object ?? []).map(\.name)
      let others = (value.object ?? []).filter { !known.contains($0.name) }
      if keyword.value == false { return others.map { "\(place)/\($0.name): is not in the schema" } }
      return others.flatMap { violations(of: $0.value, keyword.value, at: "\(place)/\($0.name)") }
    case "items":
      return (value.array ?? []).enumerated().flatMap {
        violations(of: $0.element, keyword.value, at: "\(place)/\($0.offset)")
      }
    case "allOf": return (keyword.value.array ?? []).flatMap { violations(of: value, $0, at: place) }
    case "anyOf", "oneOf":
      let results = (keyword.value.array ?? []).map { violations(of: value, $0, at: place) }
      let matches = results.count { $0.isEmpty }
      let isRight = keyword.name == "anyOf" ? matches > 0 : matches == 1
      return isRight ? [] : ["\(place): matches \(matches) of \(results.count): \(results)"]
    case "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems",
      "minProperties", "maxProperties", "propertyNames":
      return isWithin(value, keyword, at: place) ? [] : ["\(place): not within \(keyword.name) \(keyword.value.text())"]
    case "description", "format", "default", "$schema", "title", "$defs", "discriminator": return []
    default: return ["\(place): unknown keyword \(keyword.name)"]
    }
  }

  /// Bounds, which other types than their own do not have.
  private func isWithin(_ value: JSON, _ keyword: JSON.Member, at place: String) -> Bool {
    let bound = keyword.value.integer ?? 0
    switch (keyword.name, value) {
    case ("pattern", .string(let text)):
      // Not all of a wallet's answer: Swift's expressions take their time.
      guard text.utf8.count < 512, let pattern = keyword.value.string else { return true }
      return (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil } ?? false
    case ("minLength", .string(let text)): return text.unicodeScalars.count >= bound
    case ("maxLength", .string(let text)): return text.unicodeScalars.count <= bound
    case ("minimum", .integer(let number)): return number >= bound
    case ("maximum", .integer(let number)): return number <= bound
    case ("minItems", .array(let items)): return items.count >= bound
    case ("maxItems", .array(let items)): return items.count <= bound
    case ("uniqueItems", .array(let items)): return Set(items).count == items.count
    case ("minProperties", .object(let members)): return members.count >= bound
    case ("maxProperties", .object(let members)): return members.count <= bound
    case ("propertyNames", .object(let members)):
      return members.allSatisfy { violations(of: .string($0.name), keyword.value, at: place).isEmpty }
    default: return true
    }
  }

  private func has(_ value: JSON, type: String) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("integer", .integer), ("boolean", .bool),
      ("null", .null):
      true
    default: false
    }
  }
}
