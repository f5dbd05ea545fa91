import Base

// Each form of the corpus' files is declared once, as a shape. The shape reads, writes and describes the form.

/// A member of an object of the corpus.
struct Member<Root: Sendable>: Sendable {
  let name: String
  let schema: Schema
  var isRequired = false
  /// Sets the member in a value, or records a fault.
  let read: @Sendable (JSON, _ pointer: String, inout Root, inout Faults) -> Void
  /// Writes the member; nil if it is omitted. The second value is an object without optional members, for comparison.
  let write: @Sendable (Root, Root) -> JSON?
}

extension Member {
  /// A required member.
  init<Value>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ shape: Shape<Value>, _ summary: String = ""
  ) {
    self.init(name: name, schema: shape.schema.asMember(summary), isRequired: true) { json, pointer, root, faults in
      if let value = shape.read(json, pointer, &faults) { root[keyPath: path] = value }
    } write: { root, _ in
      shape.write(root[keyPath: path])
    }
  }

  /// A required member whose value follows from other members.
  init<Value>(derived name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>) {
    self.init(name: name, schema: shape.schema.asMember(""), isRequired: true) { json, pointer, _, faults in
      _ = shape.read(json, pointer, &faults)
    } write: { root, _ in
      shape.write(get(root))
    }
  }

  /// A member that is omitted if the value is nil.
  static func ifAny<Value>(
    _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ shape: Shape<Value>, _ summary: String = ""
  ) -> Member {
    Member(name: name, schema: shape.schema.asMember(summary)) { json, pointer, root, faults in
      if let value = shape.read(json, pointer, &faults) { root[keyPath: path] = value }
    } write: { root, _ in
      root[keyPath: path].map(shape.write)
    }
  }

  /// A member that is omitted if its value is the default.
  static func ifAny<Value: Equatable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ shape: Shape<Value>, _ summary: String = ""
  ) -> Member {
    let required = Member(name, path, shape, summary)
    return Member(name: name, schema: required.schema, read: required.read) { root, start in
      root[keyPath: path] == start[keyPath: path] ? nil : shape.write(root[keyPath: path])
    }
  }
}

extension Shape where Value: Sendable {
  /// An object of the corpus. Its schema is closed. Reading ignores unknown members, which a later version may have.
  /// - Parameter start: the value of an object without optional members.
  static func form(_ title: String, from start: Value, _ members: Member<Value>...) -> Shape {
    let schema = Schema.object(
      members.map { Schema.Member($0.name, $0.schema) }, required: members.filter(\.isRequired).map(\.name))
    return Shape(schema.titled(title)) { json, pointer, faults in
      guard json.object != nil else {
        faults.add(pointer, "must be an object")
        return nil
      }
      let before = faults.all.count
      var value = start
      for member in members {
        if let json = json[member.name] {
          member.read(json, "\(pointer)/\(member.name)", &value, &faults)
        } else if member.isRequired {
          faults.add("\(pointer)/\(member.name)", "is required")
        }
      }
      return faults.all.count == before ? value : nil
    } write: { value in
      .object(members.compactMap { member in member.write(value, start).map { JSON.Member(member.name, $0) } })
    }
  }
}

extension Shape {
  /// One of several forms, chosen by the text of a member. All have the same schema.
  static func chosen(
    by member: String, _ forms: [(name: String, form: Shape)], of name: @escaping @Sendable (Value) -> String
  ) -> Shape {
    let byName = Dictionary(uniqueKeysWithValues: forms.map { ($0.name, $0.form) })
    let names = forms.map(\.name)
    return Shape(forms[0].form.schema) { json, pointer, faults in
      if let form = json[member]?.string.flatMap({ byName[$0] }) { return form.read(json, pointer, &faults) }
      let hint = Spelling.hint(for: json[member]?.string ?? "", among: names)
      faults.add("\(pointer)/\(member)", "must be \(names.alternatives)" + hint)
      return nil
    } write: { value in
      byName[name(value)]?.write(value) ?? .null
    }
  }

  /// The same form, with an additional rule for the JSON. The schema does not state this rule.
  func holding(
    _ rule: @escaping @Sendable (_ json: JSON, _ pointer: String, inout Faults) -> Void
  ) -> Shape {
    Shape(schema) { json, pointer, faults in
      let before = faults.all.count
      rule(json, pointer, &faults)
      return faults.all.count == before ? read(json, pointer, &faults) : nil
    } write: {
      write($0)
    }
  }

  /// The same object, which must contain exactly one of these members.
  func withOne(of names: String...) -> Shape {
    let forms = names.map { JSON.object([.init("required", .strings([$0]))]) }
    return described(by: schema.with("oneOf", .array(forms))).holding { json, pointer, faults in
      let found = names.filter { json[$0] != nil }
      guard json.object != nil, found.count != 1 else { return }
      let others = Array(names.dropFirst()).alternatives
      let problem = found.count > 1 ? "excludes `\(found[1])`" : "is required, or \(others)"
      faults.add("\(pointer)/\(found.first ?? names[0])", problem)
    }
  }

  var elements: Shape<[Value]> { list(atLeast: 0).described(by: .list(of: schema)) }
  /// A list without duplicate elements. Only the schema states this: reading does not check it.
  var set: Shape<[Value]> { elements.described(by: Schema.list(of: schema).with("uniqueItems", true)) }

  /// The same form for values of another type. `make` returns nil for an invalid value. `problem` then states the
  /// requirement.
  func map<Other>(
    _ make: @escaping @Sendable (Value) -> Other?, _ problem: String, back: @escaping @Sendable (Other) -> Value
  ) -> Shape<Other> {
    Shape<Other>(schema, read: parsed(problem, make).read) { write(back($0)) }
  }

  /// Reads a whole file, and throws the first error.
  func parsed(_ json: JSON) throws(VectorError) -> Value {
    var faults = Faults()
    if let value = read(json, "", &faults), faults.isEmpty { return value }
    throw VectorError(pointer: faults.all.first?.pointer ?? "", problem: faults.all.first?.detail ?? "can't be read")
  }
}

extension Shape<String> {
  static var anyText: Shape {
    Shape(.text) { json, pointer, faults in
      if json.string == nil { faults.add(pointer, "must be a string") }
      return json.string
    } write: {
      .string($0)
    }
  }

  static var nonEmpty: Shape {
    anyText.checked("must be a non-empty string") { !$0.isEmpty }.described(by: .nonEmptyString())
  }

  /// - Parameter pattern: a regular expression (ECMA-262) for the schema; reading does not check it.
  static func text(matching pattern: String) -> Shape { anyText.described(by: .text(like: pattern)) }
}

extension Shape<[UInt8]> {
  /// Base64url without padding (RFC 4648, 5).
  static var bytes: Shape {
    Shape<String>.text(matching: "^[A-Za-z0-9_-]*$").map(
      { Base64.decodeURLSafe($0) }, "must be base64url, without padding", back: { Base64.encodeURLSafe($0) })
  }
}

extension Shape<Int64> {
  static var anyInteger: Shape { integer(.min ... .max).described(by: ["type": "integer"]) }
}

extension Shape<Timestamp> {
  static var rfc3339: Shape {
    Shape<String>.nonEmpty.map(
      { Timestamp(rfc3339: $0) }, "must be a time like 2026-11-20T10:00:00Z", back: { $0.description })
  }
}

extension Shape where Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable {
  /// One of the names.
  static var name: Shape { choice.described(by: ["enum": .strings(Value.allCases.map(\.rawValue))]) }
}

extension JSON {
  static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
  static func bytes(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
}
