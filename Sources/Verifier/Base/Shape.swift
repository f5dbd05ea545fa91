/// The JSON form of a Swift value, stated once: it reads, writes and describes itself.
///
/// A form that people send is closed (`object`): it knows its members and notes every other one. A form that is only
/// written is open (`open`): a later version may write more, so its schema does not forbid it. Neither writes a
/// `default` into its schema, since generators make such members mandatory: the description says it.
package struct Shape<Value>: Sendable {
  package let schema: Schema
  /// Nil if the value has a fault, which is then noted.
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

  /// The same form with another schema.
  package func described(by schema: Schema) -> Shape { Shape(schema, read: read, write: write) }

  /// The form under a name, which becomes that of a component of the contract, and so of a generated type.
  package func titled(_ title: String) -> Shape { described(by: schema.titled(title)) }
}

/// Everything that is wrong with one input, collected so that it can be mended in one go.
package struct Faults: Sendable {
  package private(set) var all: [Fault] = []

  package struct Fault: Sendable, Hashable {
    /// RFC 6901; empty for the whole.
    package let pointer: String
    package let detail: String
    package let code: Code
  }

  package init() {}

  package var isEmpty: Bool { all.isEmpty }

  /// Notes a fault. The first ones are kept: an input of many faults does not get a reply that is larger than itself.
  /// The text of a further one is not even made: to find near names is expensive.
  package mutating func add(
    _ pointer: String, _ detail: @autoclosure () -> String, code: Code = .apiInvalidRequest
  ) {
    guard all.count < Limits.reportedFaults else { return }
    all.append(Fault(pointer: pointer, detail: detail(), code: code))
  }
}

// MARK: Values

extension Shape where Value == String {
  /// A text of so many characters, which are Unicode scalars, as in JSON Schema.
  ///
  /// - Parameter pattern: a regular expression (ECMA-262) that describes the text; the reader's own check is `checked`.
  package static func text(_ characters: ClosedRange<Int> = 1...255, like pattern: String? = nil) -> Shape {
    let schema = Schema.text(characters)
    return Shape(pattern.map { schema.with("pattern", .string($0)) } ?? schema) { json, pointer, faults in
      if let text = json.string, characters.contains(text.unicodeScalars.count) { return text }
      faults.add(pointer, "must be a string of \(characters.lowerBound) to \(characters.upperBound) characters")
      return nil
    } write: {
      .string($0)
    }
  }

  /// A text that is written. With known values it is a word of a list that may grow: no enumeration, so that a client
  /// of today reads what a server of tomorrow writes.
  package static func written(_ known: [String] = [], like pattern: String? = nil) -> Shape {
    let list: JSON? = known.isEmpty ? nil : .array(known.map { .string($0) })
    let more = known.isEmpty ? nil : "One of \(known.joined(separator: ", ")); later versions may have more."
    let schema = JSON.members([
      "type": "string", "pattern": pattern.map { .string($0) }, "x-extensible-enum": list,
      "description": more.map { .string($0) },
    ])
    return Shape(Schema(schema)) { json, _, _ in
      json.string
    } write: {
      .string($0)
    }
  }
}

extension Shape<String> {
  /// A SHA-256 that is written, in hexadecimal.
  package static var sha256: Shape { .written(like: "^[0-9a-f]{64}$") }
}

extension Shape where Value == Int {
  /// A number that is written, of what is counted.
  package static var count: Shape { Shape<Int64>.integer(0...Int64(Int32.max)).map({ Int($0) }, back: { Int64($0) }) }
}

extension Shape where Value == Timestamp {
  /// A time that is written, in Unix seconds.
  package static var seconds: Shape {
    Shape(["type": "integer", "format": "int64"]) { json, _, _ in
      json.integer.map { Timestamp(secondsSince1970: $0) }
    } write: {
      .integer($0.secondsSince1970)
    }
  }
}

extension Shape where Value == Int64 {
  package static func integer(_ range: ClosedRange<Int64>) -> Shape {
    Shape(Schema.number(range).with("format", "int64")) { json, pointer, faults in
      if let number = json.integer, range.contains(number) { return number }
      faults.add(pointer, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      return nil
    } write: {
      .integer($0)
    }
  }
}

extension Shape where Value == Bool {
  package static var flag: Shape {
    Shape(.flag) { json, pointer, faults in
      if let flag = json.bool { return flag }
      faults.add(pointer, "must be true or false")
      return nil
    } write: {
      .bool($0)
    }
  }
}

extension Shape where Value == JSON {
  /// Any value, which somebody else reads.
  package static func any(_ schema: Schema) -> Shape {
    Shape(schema) { json, _, _ in
      json
    } write: {
      $0
    }
  }
}

extension Shape where Value: Equatable & Sendable {
  /// One of the values, all of whose names are known: a form that is read.
  package static func choice(_ title: String, _ summary: String, of values: [(name: String, value: Value)]) -> Shape {
    let names = values.map(\.name)
    return Shape(Schema.oneOf(title, names).described(summary)) { json, pointer, faults in
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
}

extension Shape {
  package func list(_ count: ClosedRange<Int>) -> Shape<[Value]> {
    Shape<[Value]>(.list(of: schema, count)) { json, pointer, faults in
      guard let elements = json.array, count.contains(elements.count) else {
        faults.add(pointer, "must be an array of \(count.lowerBound) to \(count.upperBound) elements")
        return nil
      }
      let values = elements.enumerated().map { read($0.element, "\(pointer)/\($0.offset)", &faults) }
      return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    } write: {
      .array($0.map(write))
    }
  }

  /// A list that is written.
  package var list: Shape<[Value]> { list(0...Int.max).described(by: .list(of: schema)) }

  /// The form of a value that may be null, which is read as nil.
  package var orNull: Shape<Value?> {
    Shape<Value?>(schema.orNull) { json, pointer, faults in
      json.isNull ? .some(nil) : read(json, pointer, &faults).map { .some($0) }
    } write: {
      $0.map(write) ?? .null
    }
  }

  /// The form of another value, which this one stands for.
  package func map<Other>(
    _ make: @escaping @Sendable (Value) -> Other, back: @escaping @Sendable (Other) -> Value
  ) -> Shape<Other> {
    Shape<Other>(schema) { json, pointer, faults in
      read(json, pointer, &faults).map(make)
    } write: {
      write(back($0))
    }
  }

  /// The same form with rules that no schema states. They run on a value whose members are right.
  package func checked(_ rules: @escaping @Sendable (Value, _ pointer: String, inout Faults) -> Void) -> Shape {
    Shape(schema) { json, pointer, faults in
      guard let value = read(json, pointer, &faults) else { return nil }
      rules(value, pointer, &faults)
      return value
    } write: {
      write($0)
    }
  }
}

// MARK: Closed objects

/// A member of a closed object: its name, where its value is, its form, and what it means.
package struct Field<Root, Value>: Sendable {
  let name: String
  let get: @Sendable (Root) -> Value
  let shape: Shape<Value>
  let summary: String
  /// What stands for a member that is absent; nil if it is required.
  var fallback: (@Sendable () -> Value)?
  /// Whether the member is left out where it has this value.
  var isOmitted: @Sendable (Value) -> Bool = { _ in false }

  /// A required member.
  package init(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, _ summary: String
  ) {
    self.name = name
    self.get = get
    self.shape = shape
    self.summary = summary
  }

  /// The member's value; nil with a fault noted.
  fileprivate func value(in json: JSON, at pointer: String, _ faults: inout Faults) -> Value? {
    if let member = json[name] { return shape.read(member, "\(pointer)/\(name)", &faults) }
    if let fallback { return fallback() }
    faults.add("\(pointer)/\(name)", "is required")
    return nil
  }
}

extension Field {
  /// A member that may be absent or null. The summary says what then holds, unless it is the fallback, which is said here.
  package static func optional<Inner: Equatable & Sendable>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner?, _ shape: Shape<Inner>, _ summary: String
  ) -> Field where Value == Inner? {
    var field = Field(name, get, shape.orNull, summary)
    field.fallback = { nil }
    field.isOmitted = { $0 == nil }
    return field
  }

  package static func optional(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, or fallback: Value,
    _ summary: String
  ) -> Field where Value: Equatable & Sendable {
    let known = Shape<Value>(shape.schema.orNull) { json, pointer, faults in
      json.isNull ? fallback : shape.read(json, pointer, &faults)
    } write: {
      shape.write($0)
    }
    let text = shape.write(fallback).text()
    var field = Field(name, get, known, text == "[]" ? summary : "\(summary) By default \(text).")
    field.fallback = { fallback }
    field.isOmitted = { $0 == fallback }
    return field
  }
}

extension Shape {
  /// A closed object. All its members are read, so that every fault is noted; of an unknown one the fault says what may
  /// have been meant.
  ///
  /// - Parameter summary: what the object is, for people.
  package static func object<each Member>(
    _ title: String, _ summary: String, _ make: @escaping @Sendable (repeat each Member) -> Value,
    _ fields: repeat Field<Value, each Member>
  ) -> Shape {
    var members: [Schema.Member] = []
    var required: [String] = []
    for field in repeat each fields {
      members.append(Schema.Member(field.name, field.shape.schema.asMember(field.summary)))
      if field.fallback == nil { required.append(field.name) }
    }
    let known = members.map(\.name)
    let schema = Schema.object(members, required: required).described(summary).titled(title)
    return Shape(schema) { json, pointer, faults in
      guard let members = json.object else {
        let names = known.isEmpty ? "" : "; its members may be \(known.sorted().joined(separator: ", "))"
        faults.add(pointer, "must be an object" + names)
        return nil
      }
      for member in members where !known.contains(where: member.name.hasSameBytes) {
        faults.add(
          "\(pointer)/\(JSONPointer.escape(member.name))",
          "is not known here" + Spelling.hint(for: member.name, among: known), code: .apiUnknownMember)
      }
      let values = (repeat (each fields).value(in: json, at: pointer, &faults))
      do { return make(repeat try present(each values)) } catch { return nil }
    } write: { value in
      var members: [JSON.Member] = []
      for field in repeat each fields {
        let member = field.get(value)
        if !field.isOmitted(member) { members.append(JSON.Member(field.name, field.shape.write(member))) }
      }
      return .object(members)
    }
  }
}

private struct Absent: Error {}

private func present<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw Absent() }
  return value
}

// MARK: Open objects

/// A member of an object that is written: its name, its schema, and what it says of a value.
package struct WrittenMember<Root>: Sendable {
  let name: String
  let schema: Schema
  let isRequired: Bool
  /// Nil where the member is left out.
  let write: @Sendable (Root) -> JSON?

  /// A member that is always there.
  package static func always<Value>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, _ summary: String
  ) -> WrittenMember {
    WrittenMember(name: name, schema: shape.schema.asMember(summary), isRequired: true) { shape.write(get($0)) }
  }

  /// A member that is left out where there is no value.
  package static func ifAny<Value>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value?, _ shape: Shape<Value>, _ summary: String
  ) -> WrittenMember {
    WrittenMember(name: name, schema: shape.schema.asMember(summary), isRequired: false) { get($0).map(shape.write) }
  }

  /// A member that is null where there is no value. A client may also find it absent.
  package static func orNull<Value>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value?, _ shape: Shape<Value>, _ summary: String
  ) -> WrittenMember {
    let form = shape.orNull
    return WrittenMember(name: name, schema: form.schema.asMember(summary), isRequired: false) { form.write(get($0)) }
  }

  /// The same member, which some readers get only.
  package func when(_ isShown: @escaping @Sendable (Root) -> Bool) -> WrittenMember {
    WrittenMember(name: name, schema: schema, isRequired: false) { isShown($0) ? write($0) : nil }
  }
}

extension Shape {
  /// An object that is written, and read by clients alone: a later version may have more members.
  ///
  /// - Parameter summary: what the object is, for people.
  package static func open(_ title: String, _ summary: String, _ members: [WrittenMember<Value>]) -> Shape {
    let schema = Schema.openObject(
      members.map { Schema.Member($0.name, $0.schema) }, required: members.filter(\.isRequired).map(\.name))
    return Shape(schema.described(summary).titled(title)) { _, pointer, faults in
      faults.add(pointer, "is not read here")
      return nil
    } write: { value in
      .object(members.compactMap { member in member.write(value).map { JSON.Member(member.name, $0) } })
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
