/// A member of an object: its name, its form, its reader and its writer.
///
/// It is a class to make copies cheap, since generic code copies it for each value.
package final class Field<Root, Value>: Sendable {
  let name: String
  let schema: Schema
  let isRequired: Bool
  /// Reads the member; nil with a recorded fault. The JSON is nil for an absent member. The pointer is made only on
  /// demand, since most members are absent and need none.
  fileprivate let read: @Sendable (JSON?, _ pointer: () -> String, inout Faults) -> Value?
  /// Writes the member; nil if it is omitted.
  fileprivate let write: @Sendable (Root) -> JSON?

  /// A required member.
  package convenience init(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, _ summary: String
  ) {
    self.init(name: name, schema: shape.schema.asMember(summary), isRequired: true) { json, pointer, faults in
      if let json { return shape.read(json, pointer(), &faults) }
      faults.add(pointer(), "is required")
      return nil
    } write: {
      shape.write(get($0))
    }
  }

  /// A member that may be absent. It is omitted if its value is the fallback.
  private convenience init(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, or fallback: Value,
    _ summary: String
  ) where Value: Equatable & Sendable {
    self.init(name: name, schema: shape.schema.asMember(summary), isRequired: false) { json, pointer, faults in
      if let json { return shape.read(json, pointer(), &faults) }
      return fallback
    } write: { root in
      let value = get(root)
      return value == fallback ? nil : shape.write(value)
    }
  }

  private init(
    name: String, schema: Schema, isRequired: Bool,
    read: @escaping @Sendable (JSON?, _ pointer: () -> String, inout Faults) -> Value?,
    write: @escaping @Sendable (Root) -> JSON?
  ) {
    self.name = name
    self.schema = schema
    self.isRequired = isRequired
    self.read = read
    self.write = write
  }

  package func value(in object: JSON, at pointer: String, _ faults: inout Faults) -> Value? {
    read(object[name], { "\(pointer)/\(name)" }, &faults)
  }

  /// A member that may be absent or null. The summary describes that case.
  package static func optional<Inner: Equatable & Sendable>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner?, _ shape: Shape<Inner>, _ summary: String
  ) -> Field where Value == Inner? {
    Field(name, get, shape.orNull, or: nil, summary)
  }

  /// A member that may be absent or null. Its value is then the fallback. The fallback is added to the summary.
  package static func optional(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, or fallback: Value,
    _ summary: String
  ) -> Field where Value: Equatable & Sendable {
    let text = shape.write(fallback).text()
    let form = Shape(shape.schema.orNull, read: { $0.isNull ? fallback : shape.read($0, $1, &$2) }, write: shape.write)
    return Field(name, get, form, or: fallback, text == "[]" ? summary : "\(summary) By default \(text).")
  }

  /// A member that may be absent, but not null.
  package static func ifAny<Inner: Equatable & Sendable>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner?, _ shape: Shape<Inner>, _ summary: String = ""
  ) -> Field where Value == Inner? {
    let form = shape.orNull
    let notNull = Shape<Inner?>(shape.schema, read: { shape.read($0, $1, &$2).map { $0 } }, write: form.write)
    return Field(name, get, notNull, or: nil, summary)
  }

  /// A member that may be absent, but not null. If absent, its value is the fallback.
  package static func ifAny(
    _ name: String, _ get: @escaping @Sendable (Root) -> Value, _ shape: Shape<Value>, or fallback: Value,
    _ summary: String = ""
  ) -> Field where Value: Equatable & Sendable {
    Field(name, get, shape, or: fallback, summary)
  }
}

/// A member of an object for input only.
package typealias Entry<Value> = Field<Void, Value>

extension Field where Root == Void {
  /// - Parameters:
  ///   - fallback: used for a member that is absent or null; nil if the member is required.
  ///   - absence: the fault of a required member that is absent.
  package convenience init(
    _ name: String, _ shape: Shape<Value>, or fallback: JSON? = nil, _ summary: String, absence: String = "is required"
  ) {
    let form = shape.schema.asMember(summary)
    let shown = [[], [:]].contains(fallback) ? nil : fallback
    self.init(
      name: name, schema: shown.map { form.with("default", $0) } ?? form, isRequired: fallback == nil
    ) { json, pointer, faults in
      if let json = json?.unlessNull ?? fallback { return shape.read(json, pointer(), &faults) }
      faults.add(pointer(), absence)
      return nil
    } write: { _ in
      nil
    }
  }

  /// A member that may be absent or null. Its value is then nil.
  package static func ifAny<Inner>(
    _ name: String, _ shape: Shape<Inner>, _ summary: String
  ) -> Field where Value == Inner? {
    Field(name: name, schema: shape.schema.asMember(summary), isRequired: false) { json, pointer, faults in
      guard let json = json?.unlessNull else { return .some(nil) }
      return shape.read(json, pointer(), &faults).map { .some($0) }
    } write: { _ in
      nil
    }
  }
}

/// A member of an object for output only.
package typealias WrittenMember<Root> = Field<Root, Never>

extension Field where Value == Never {
  private convenience init(
    _ name: String, _ schema: Schema, _ summary: String, isRequired: Bool = false,
    write: @escaping @Sendable (Root) -> JSON?
  ) {
    self.init(
      name: name, schema: schema.asMember(summary), isRequired: isRequired, read: { _, _, _ in nil }, write: write)
  }

  /// A member that is always present.
  package static func always<Inner>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner, _ shape: Shape<Inner>, _ summary: String
  ) -> Field {
    Field(name, shape.schema, summary, isRequired: true) { shape.write(get($0)) }
  }

  /// A member that is omitted if it has no value.
  package static func ifAny<Inner>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner?, _ shape: Shape<Inner>, _ summary: String
  ) -> Field {
    Field(name, shape.schema, summary) { get($0).map(shape.write) }
  }

  /// A member that is null if it has no value. Clients must also accept its absence.
  package static func orNull<Inner>(
    _ name: String, _ get: @escaping @Sendable (Root) -> Inner?, _ shape: Shape<Inner>, _ summary: String
  ) -> Field {
    let form = shape.orNull
    return Field(name, form.schema, summary) { form.write(get($0)) }
  }

  /// The same member, written only if `isShown` returns true.
  package func when(_ isShown: @escaping @Sendable (Root) -> Bool) -> Field {
    Field(name: name, schema: schema, isRequired: false, read: read) { [write] in isShown($0) ? write($0) : nil }
  }
}

// MARK: Objects

/// The pointer of an object, and the faults found by rules about its members.
///
/// It is a class, since Swift 6.3 does not let closures change an `inout` parameter with a parameter pack.
package final class ObjectContext {
  package let pointer: String
  package var faults: Faults

  fileprivate init(_ pointer: String, _ faults: Faults) {
    self.pointer = pointer
    self.faults = faults
  }

  package func add(_ member: String, _ detail: @autoclosure () -> String) {
    faults.add("\(pointer)/\(member)", detail())
  }
}

extension Shape {
  /// A closed object for input only. All members are read, so that every fault is recorded.
  ///
  /// - Parameters:
  ///   - nullIsAbsent: whether a null member counts as absent; otherwise it is a fault.
  ///   - retired: the advice for members of earlier versions, by name.
  ///   - make: gets the members in their order; nil with a recorded fault.
  package static func form<each Member>(
    _ title: String, nullIsAbsent: Bool = true, retired: [String: String] = [:], _ entries: repeat Entry<each Member>,
    make: @escaping @Sendable (ObjectContext, repeat each Member) -> Value?
  ) -> Shape {
    let (schema, readers) = closedObject(repeat each entries)
    let known = schema.members.map(\.name)
    return .reading(schema.titled(title)) { json, pointer, faults in
      let members = json.members(of: known, at: pointer, &faults, "must be an object") { name in
        retired[name] ?? Spelling.unknown(name, among: known)
      }
      guard let members else { return nil }
      if !nullIsAbsent {
        for member in members where member.value.isNull && known.contains(where: member.name.hasSameBytes) {
          faults.add("\(pointer)/\(JSONPointer.escape(member.name))", "must not be null")
        }
      }
      let values = ReadMembers(readers, in: json, at: pointer, &faults)
      let context = ObjectContext(pointer, faults)
      defer { faults = context.faults }
      do { return make(context, repeat try values.next((each Member).self)) } catch { return nil }
    }
  }

  /// A closed object. All members are read, so that every fault is recorded. The fault for an unknown member suggests a
  /// known member.
  ///
  /// - Parameter summary: the object's description.
  package static func object<each Member>(
    _ title: String, _ summary: String, _ make: @escaping @Sendable (repeat each Member) -> Value,
    _ fields: repeat Field<Value, each Member>
  ) -> Shape {
    let (schema, readers) = closedObject(repeat each fields)
    var writers: [MemberWriter<Value>] = []
    for field in repeat each fields { writers.append((field.name, field.write)) }
    let known = schema.members.map(\.name)
    let names = known.isEmpty ? "" : "; its members may be \(known.sorted().joined(separator: ", "))"
    return Shape(schema.described(summary).titled(title)) { json, pointer, faults in
      let members = json.members(of: known, at: pointer, &faults, "must be an object" + names) { name in
        "is unknown" + Spelling.hint(for: name, among: known)
      }
      if members == nil { return nil }
      let values = ReadMembers(readers, in: json, at: pointer, &faults)
      do { return make(repeat try values.next((each Member).self)) } catch { return nil }
    } write: { [writers] value in
      JSON.object(value, by: writers)
    }
  }

  /// An object that this program only writes. A later version may write more members.
  ///
  /// - Parameter summary: the object's description.
  package static func open(_ title: String, _ summary: String, _ members: [WrittenMember<Value>]) -> Shape {
    let schema = Schema.openObject(
      members.map { Schema.Member($0.name, $0.schema) }, required: members.filter(\.isRequired).map(\.name))
    return Shape(schema.described(summary).titled(title)) { _, pointer, faults in
      faults.add(pointer, "is not read here")
      return nil
    } write: { [writers = members.map { ($0.name, $0.write) }] value in
      JSON.object(value, by: writers)
    }
  }
}

extension JSON {
  fileprivate static func object<Root>(_ value: Root, by writers: [MemberWriter<Root>]) -> JSON {
    var members: [Member] = []
    for writer in writers {
      if let json = writer.write(value) { members.append(Member(writer.name, json)) }
    }
    return .object(members)
  }

  /// The value; nil for null.
  fileprivate var unlessNull: JSON? { isNull ? nil : self }

  /// The members of an object. For any other value, records `fault` and returns nil. Records each unknown member.
  fileprivate func members(
    of known: [String], at pointer: String, _ faults: inout Faults, _ fault: @autoclosure () -> String,
    unknown: (String) -> String
  ) -> [Member]? {
    guard let members = object else {
      faults.add(pointer, fault())
      return nil
    }
    for member in members where !known.contains(where: member.name.hasSameBytes) {
      faults.add("\(pointer)/\(JSONPointer.escape(member.name))", unknown(member.name), isUnknownMember: true)
    }
    return members
  }
}

fileprivate typealias MemberWriter<Root> = (name: String, write: @Sendable (Root) -> JSON?)

/// Reads one member, whatever the type of its value.
private typealias MemberReader = @Sendable (JSON, _ pointer: String, inout Faults) -> Any?

private func closedObject<Root, each Member>(
  _ fields: repeat Field<Root, each Member>
) -> (schema: Schema, readers: [MemberReader]) {
  var members: [Schema.Member] = []
  var required: [String] = []
  var readers: [MemberReader] = []
  for field in repeat each fields {
    members.append(Schema.Member(field.name, field.schema))
    if field.isRequired { required.append(field.name) }
    readers.append { json, pointer, faults in field.value(in: json, at: pointer, &faults) }
  }
  return (Schema.object(members, required: required), readers)
}

/// The values of the read members, returned one by one in their order. This avoids a parameter pack of optional values,
/// which looks up several types for each member.
private final class ReadMembers {
  private struct AbsentError: Error {}

  private let values: [Any?]
  private var taken = 0

  init(_ readers: [MemberReader], in json: JSON, at pointer: String, _ faults: inout Faults) {
    values = readers.map { $0(json, pointer, &faults) }
  }

  /// Throws if the member was not read.
  func next<Value>(_ type: Value.Type) throws -> Value {
    taken += 1
    // Unwraps in two steps, since a cast of an absent member to an optional type succeeds.
    guard let value = values[taken - 1], let value = value as? Value else { throw AbsentError() }
    return value
  }
}
