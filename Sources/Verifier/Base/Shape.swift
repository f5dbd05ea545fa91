/// The JSON form of a Swift value. One declaration reads the value, writes it and describes it in a schema.
///
/// An input form is closed (`object`): it records every unknown member as a fault. An output form is open (`open`),
/// since a later version may write more members. No schema has `default`, since generators make members with a default
/// mandatory. The description states the default.
package struct Shape<Value>: Sendable {
  package let schema: Schema
  /// Reads a value. Returns nil and records a fault if the value is invalid.
  package let read: @Sendable (JSON, _ pointer: String, inout Faults) -> Value?
  package let write: @Sendable (Value) -> JSON

  package init(
    _ schema: Schema, read: @escaping @Sendable (JSON, _ pointer: String, inout Faults) -> Value?,
    write: @escaping @Sendable (Value) -> JSON
  ) {
    self.schema = schema
    self.read = read
    self.write = write
  }

  /// A value without parts.
  ///
  /// - Parameter detail: the fault to record for JSON that the form does not accept.
  private init(
    _ schema: Schema, _ detail: String, _ value: @escaping @Sendable (JSON) -> Value?,
    write: @escaping @Sendable (Value) -> JSON
  ) {
    let read: @Sendable (JSON, String, inout Faults) -> Value? = { json, pointer, faults in
      let value = value(json)
      if value == nil { faults.add(pointer, detail) }
      return value
    }
    self.init(schema, read: read, write: write)
  }

  /// Returns the same form with another schema.
  package func described(by schema: Schema) -> Shape { Shape(schema, read: read, write: write) }
}

/// A fault of one value in an input.
package struct InputError: Error, Sendable, Hashable {
  /// A JSON pointer (RFC 6901); empty for the whole input.
  package let pointer: String
  package let detail: String
  /// The specific code of the refusal; nil for an invalid value or an unknown member.
  package let code: Code?
  package let isUnknownMember: Bool

  package init(_ pointer: String, _ detail: String, code: Code? = nil, isUnknownMember: Bool = false) {
    self.pointer = pointer
    self.detail = detail
    self.code = code
    self.isUnknownMember = isUnknownMember
  }

  /// The pointer and the detail: `/listen: must be …`. A fault of the whole input has no pointer.
  package var text: String { pointer.isEmpty ? detail : "\(pointer): \(detail)" }
}

/// All faults of one input, so that people can correct them in one go.
package struct Faults: Sendable {
  package private(set) var all: [InputError] = []

  /// Warnings about values that are allowed but should be changed.
  package private(set) var warnings: [String] = []
  private let most: Int

  /// - Parameter most: the maximum number of faults to record, so that no reply is larger than its request.
  package init(most: Int = Limits.reportedFaults) { self.most = most }

  package var isEmpty: Bool { all.isEmpty }

  /// Records a fault once. Evaluates the text only if it records the fault, since finding near names is expensive.
  package mutating func add(
    _ pointer: String, _ detail: @autoclosure () -> String, code: Code? = nil, isUnknownMember: Bool = false
  ) {
    guard all.count < most else { return }
    let fault = InputError(pointer, detail(), code: code, isUnknownMember: isUnknownMember)
    if !all.contains(fault) { all.append(fault) }
  }

  package mutating func warn(_ text: String) { warnings.append(text) }

  /// Returns the value of the expression. If the expression throws, records the error and returns nil.
  package mutating func attempt<Value>(_ pointer: String, _ make: () throws -> Value) -> Value? {
    do { return try make() } catch {
      add(pointer, "\(error)")
      return nil
    }
  }
}

// MARK: Values

extension Shape where Value == String {
  /// - Parameters:
  ///   - characters: the number of Unicode scalars, as in JSON Schema.
  ///   - pattern: a regular expression (ECMA-262) that describes the text; the reader does not check it.
  package static func text(_ characters: ClosedRange<Int> = 1...255, like pattern: String? = nil) -> Shape {
    let schema = Schema.text(characters)
    return Shape(
      pattern.map { schema.with("pattern", .string($0)) } ?? schema,
      "must be a string of \(characters.lowerBound) to \(characters.upperBound) characters",
      { $0.string.flatMap { characters.contains($0.unicodeScalars.count) ? $0 : nil } }, write: JSON.string)
  }

  /// A non-empty string in an operator's file. The reader does not check the pattern.
  package static func nonEmptyString(like pattern: String? = nil) -> Shape {
    Shape(
      .nonEmptyString(like: pattern), "must be a non-empty string of at most 4096 bytes",
      { $0.string.flatMap { (1...4096).contains($0.utf8.count) ? $0 : nil } }, write: JSON.string)
  }

  /// A string, for output only. The schema does not restrict the string to known values, since later versions may write
  /// others.
  package static func written(_ known: [String] = [], like pattern: String? = nil) -> Shape {
    let list: JSON? = known.isEmpty ? nil : .array(known.map { .string($0) })
    let more = known.isEmpty ? nil : "One of \(known.joined(separator: ", ")); later versions may have more."
    let schema = JSON.members([
      "type": "string", "pattern": pattern.map { .string($0) }, "x-extensible-enum": list,
      "description": more.map { .string($0) },
    ])
    return Shape(Schema(schema), read: { json, _, _ in json.string }, write: JSON.string)
  }
}

extension Shape<String> {
  /// A SHA-256 in hexadecimal, for output only.
  package static var sha256: Shape { .written(like: "^[0-9a-f]{64}$") }
}

extension Shape where Value == Int {
  package static func whole(_ range: ClosedRange<Int>) -> Shape {
    Shape<Int64>.integer(Int64(range.lowerBound)...Int64(range.upperBound)).map({ Int($0) }, back: { Int64($0) })
  }

  /// A non-negative count, for output only.
  package static var count: Shape { whole(0...Int(Int32.max)) }
}

extension Shape where Value == Timestamp {
  /// A time in Unix seconds, for output only.
  package static var seconds: Shape {
    Shape(
      ["type": "integer", "format": "int64"],
      read: { json, _, _ in json.integer.map(Timestamp.init(secondsSince1970:)) },
      write: { .integer($0.secondsSince1970) })
  }
}

extension Shape where Value == Int64 {
  package static func integer(_ range: ClosedRange<Int64>) -> Shape {
    Shape(
      Schema.number(range).with("format", "int64"),
      "must be a whole number from \(range.lowerBound) to \(range.upperBound)",
      { $0.integer.flatMap { range.contains($0) ? $0 : nil } }, write: JSON.integer)
  }
}

extension Shape where Value == Bool {
  package static var flag: Shape {
    Shape(.flag, "must be true or false", { $0.bool }, write: JSON.bool)
  }
}

extension Shape where Value == JSON {
  /// Any JSON value; other code interprets it.
  package static func any(_ schema: Schema) -> Shape { Shape(schema, read: { json, _, _ in json }, write: { $0 }) }
}

extension Shape where Value: Equatable & Sendable {
  /// One of the named values.
  package static func choice(_ title: String, _ summary: String, of values: [(name: String, value: Value)]) -> Shape {
    let form = choice(of: values)
    return form.described(by: form.schema.titled(title).described(summary))
  }

  package static func choice(of values: [(name: String, value: Value)]) -> Shape {
    let names = values.map(\.name)
    return Shape(.oneOf(names)) { json, pointer, faults in
      if let found = values.first(where: { .string($0.name) == json }) { return found.value }
      faults.add(pointer, "must be \(names.alternatives)" + Spelling.hint(for: json.string ?? "", among: names))
      return nil
    } write: { value in
      .string(values.first { $0.value == value }?.name ?? "")
    }
  }
}

extension Shape where Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable {
  package static func choice(_ title: String, _ summary: String) -> Shape {
    choice(title, summary, of: Value.allCases.map { ($0.rawValue, $0) })
  }

  package static var choice: Shape { choice(of: Value.allCases.map { ($0.rawValue, $0) }) }
}

extension Shape {
  package func list(_ count: ClosedRange<Int>) -> Shape<[Value]> {
    list(.list(of: schema, count), count, "must be an array of \(count.lowerBound) to \(count.upperBound) elements")
  }

  package func list(atLeast least: Int = 0) -> Shape<[Value]> {
    let bound = least > 0 ? " with at least \(least == 1 ? "one element" : "\(least) elements")" : ""
    return list(.list(of: schema, atLeast: least), least...Int.max, "must be an array" + bound)
  }

  private func list(_ schema: Schema, _ count: ClosedRange<Int>, _ fault: String) -> Shape<[Value]> {
    Shape<[Value]>(schema) { json, pointer, faults in
      guard let elements = json.array, count.contains(elements.count) else {
        faults.add(pointer, fault)
        return nil
      }
      var values: [Value] = []
      for (index, element) in elements.enumerated() {
        if let value = read(element, "\(pointer)/\(index)", &faults) { values.append(value) }
      }
      return values.count == elements.count ? values : nil
    } write: {
      .array($0.map(write))
    }
  }

  /// A list, for output only.
  package var list: Shape<[Value]> { list(0...Int.max).described(by: .list(of: schema)) }

  /// The form of an optional value: null is nil.
  package var orNull: Shape<Value?> {
    Shape<Value?>(
      schema.orNull, read: { $0.isNull ? .some(nil) : read($0, $1, &$2).map { .some($0) } },
      write: { $0.map(write) ?? .null })
  }

  /// This form with its values converted to another type.
  package func map<Other>(
    _ make: @escaping @Sendable (Value) -> Other, back: @escaping @Sendable (Other) -> Value
  ) -> Shape<Other> {
    Shape<Other>(schema, read: { read($0, $1, &$2).map(make) }, write: { write(back($0)) })
  }
}

extension Shape {
  /// Returns the form, restricted to values that satisfy a rule.
  ///
  /// - Parameter detail: the fault to record for any other value.
  package func checked(_ detail: String, _ isGood: @escaping @Sendable (Value) -> Bool) -> Shape {
    Shape(schema, read: parsed(detail) { isGood($0) ? $0 : nil }.read, write: write)
  }

  /// A form for input only. `make` converts this form's value.
  ///
  /// - Parameter make: converts the value; on failure, records a fault and returns nil.
  package func parsed<Other>(
    _ make: @escaping @Sendable (Value, String, inout Faults) -> Other?
  ) -> Shape<Other> {
    .reading(schema) { json, pointer, faults in read(json, pointer, &faults).flatMap { make($0, pointer, &faults) } }
  }

  /// - Parameter detail: the fault to record if `make` returns nil.
  package func parsed<Other>(_ detail: String, _ make: @escaping @Sendable (Value) -> Other?) -> Shape<Other> {
    parsed { value, pointer, faults in
      let made = make(value)
      if made == nil { faults.add(pointer, detail) }
      return made
    }
  }

  /// A form for input only.
  package static func reading(
    _ schema: Schema, _ read: @escaping @Sendable (JSON, _ pointer: String, inout Faults) -> Value?
  ) -> Shape {
    Shape(schema, read: read) { _ in .null }
  }

  /// A form for input only, in which false means nil.
  package var orFalse: Shape<Value?> {
    .reading(.anyOf([schema, ["type": "boolean", "enum": [false]]])) { json, pointer, faults in
      json == false ? .some(nil) : read(json, pointer, &faults).map { .some($0) }
    }
  }

  /// An object with at least one member, whose members may have any names.
  package func byName(_ detail: String) -> Shape<[(name: String, value: Value)]> {
    .reading(Schema.map(of: schema).with("minProperties", 1)) { json, pointer, faults in
      guard let members = json.object, !members.isEmpty else {
        faults.add(pointer, detail)
        return nil
      }
      let values = members.map { member in
        let value = read(member.value, "\(pointer)/\(JSONPointer.escape(member.name))", &faults)
        return value.map { (name: member.name, value: $0) }
      }
      return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
  }
}

// MARK: Texts

/// JSON pointers (RFC 6901).
package enum JSONPointer {
  package static func escape(_ name: String) -> String {
    var text = ""
    for character in name.unicodeScalars {
      switch character {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}

extension [String] {
  /// "`a`, `b` or `c`".
  package var alternatives: String {
    let quoted = map { "`\($0)`" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}
