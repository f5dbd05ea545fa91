import Base
import CBOR
import Cryptography

/// A stage in the making of a mock. It has a name in the tables of variants, and the parts of its draft that edits can
/// use.
///
/// - To add a stage: declare it in `Stages`, and call `mutation.apply(Stages.name, to: &draft)` where the draft is
///   made.
/// - A part is read and written as a CBOR value. Name each part that edits or expressions need. The part `""` is the
///   whole draft. It serves paths that do not start with a part's name.
/// - To add an action (a change that no value can express), add a closure to `actions`. Its arguments have no names.
struct EditStage<Draft>: Sendable {
  let name: String
  var parts: [String: EditPart<Draft>]
  var actions: [String: EditAction<Draft>] = [:]

  init(_ name: String, _ parts: [String: EditPart<Draft>], _ actions: [String: EditAction<Draft>] = [:]) {
    self.name = name
    self.parts = parts
    self.actions = actions
  }
}

typealias EditAction<Draft> = @Sendable (inout Draft, EditArguments) throws -> Void

/// A part of a draft as a value; nil if it is absent.
struct EditPart<Draft>: Sendable {
  let get: @Sendable (Draft) throws -> CBORValue?
  var set: @Sendable (inout Draft, CBORValue?) throws -> Void = { _, _ in throw EditError("this part is read-only") }

  /// A read-only part.
  static func reading(_ get: @escaping @Sendable (Draft) throws -> CBORValue?) -> Self { EditPart(get: get) }

  static func at<Value: EditValue>(_ path: any WritableKeyPath<Draft, Value> & Sendable) -> Self {
    EditPart(get: { $0[keyPath: path].edited }, set: { $0[keyPath: path] = try Value(edited: $1) })
  }

  /// A list, as an array.
  static func list<Value: EditValue>(_ path: any WritableKeyPath<Draft, [Value]> & Sendable) -> Self {
    EditPart(
      get: { .array($0[keyPath: path].compactMap(\.edited)) },
      set: { draft, value in
        guard case .array(let elements)? = value else { return }
        draft[keyPath: path] = try elements.map { try Value(edited: $0) }
      })
  }

  /// The part of a value inside the draft.
  static func at<Inner>(_ path: any WritableKeyPath<Draft, Inner> & Sendable, _ part: EditPart<Inner>) -> Self {
    EditPart(get: { try part.get($0[keyPath: path]) }, set: { try part.set(&$0[keyPath: path], $1) })
  }
}

/// A change in a table.
enum Edit: Sendable {
  /// Nil deletes.
  case assign(EditPath, EditTerm?)
  /// Duplicates a map's entry, with the same value or with another.
  case duplicate(EditPath, EditTerm?)
  case perform(String, [EditTerm])
}

/// A path in a draft: the name of a part, then keys and indices.
struct EditPath: Sendable {
  /// The path's leading literal names, up to the first computed key.
  var names: [String] = []
  var steps: [EditTerm] = []
}

/// An expression of an edit. Returns nil if the draft lacks a value that the expression needs.
typealias EditTerm = @Sendable (EditScope) throws -> CBORValue?

/// The values to which the names in an expression refer.
struct EditScope {
  /// The value before the change.
  let it: CBORValue?
  let read: ([CBORValue]) throws -> CBORValue?
}

/// The arguments of an action or a function.
struct EditArguments {
  let values: [CBORValue]

  func callAsFunction(_ index: Int) -> CBORValue? { values.dropFirst(index).first }
  func text(_ index: Int) throws -> String { try String(edited: self(index)) }
  func bytes(_ index: Int) throws -> [UInt8] { try [UInt8](edited: self(index)) }
  func integer(_ index: Int) throws -> Int { try Int(edited: self(index)) }
  func time(_ index: Int) throws -> Timestamp { try Timestamp(edited: self(index)) }
}

/// The reason why an edit does not fit its draft.
struct EditError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

// MARK: Applying edits

/// A stage for any type of draft, as `EditParser` uses it.
protocol AnyEditStage: Sendable {
  var name: String { get }
  /// The reason why the edit is impossible; nil if it is possible.
  func fault(in edit: Edit) -> String?
  func add(_ edit: Edit, to mutation: inout MockMutation)
}

extension EditStage: AnyEditStage {
  func fault(in edit: Edit) -> String? {
    switch edit {
    case .assign(let path, _), .duplicate(let path, _):
      part(path.names.map { .text($0) }) == nil ? "\(name) has no part \(path.names.joined(separator: "."))" : nil
    case .perform(let action, _): actions[action] == nil ? "\(name) has no action \(action)" : nil
    }
  }

  func add(_ edit: Edit, to mutation: inout MockMutation) {
    mutation.add(self) { draft in try apply(edit, to: &draft) }
  }

  private func apply(_ edit: Edit, to draft: inout Draft) throws {
    let scope = { [draft] (it: CBORValue?) in EditScope(it: it) { path in try read(path, in: draft) } }
    switch edit {
    case .assign(let path, let term):
      let steps = try evaluate(path.steps, in: scope(nil))
      let value = try term?(scope(try read(steps, in: draft)))
      if term == nil || value != nil { try write(value, at: steps, in: &draft) }
    case .duplicate(let path, let term):
      let steps = try evaluate(path.steps, in: scope(nil))
      let old = try read(steps, in: draft)
      guard let key = steps.last, let value = try term.map({ try $0(scope(old)) }) ?? old else { return }
      var map = MapDraft(try read(steps.dropLast(), in: draft))
      map.entries.append((key, value))
      try write(map.value, at: steps.dropLast(), in: &draft)
    case .perform(let action, let terms):
      let values = try terms.compactMap { try $0(scope(nil)) }
      try actions[action]?(&draft, EditArguments(values: values))
    }
  }

  private func evaluate(_ steps: [EditTerm], in scope: EditScope) throws -> [CBORValue] {
    try steps.map { step in
      guard let key = try step(scope) else { throw EditError("a key is absent") }
      return key
    }
  }

  /// The part at the head of a path, with the rest of the path.
  private func part(_ path: some Collection<CBORValue>) -> (part: EditPart<Draft>, rest: ArraySlice<CBORValue>)? {
    let path = Array(path)
    let names = path.prefix(2).map { try? String(edited: $0) }.prefix { $0 != nil }.compactMap { $0 }
    for count in stride(from: names.count, through: 1, by: -1) {
      if let part = parts[names.prefix(count).joined(separator: ".")] { return (part, path.dropFirst(count)) }
    }
    return parts[""].map { ($0, path[...]) }
  }

  private func read(_ path: some Collection<CBORValue>, in draft: Draft) throws -> CBORValue? {
    guard let (part, rest) = part(path) else { throw EditError("\(name) has no such part") }
    return rest.reduce(try part.get(draft)) { value, step in value?[step: step] }
  }

  private func write(_ value: CBORValue?, at path: some Collection<CBORValue>, in draft: inout Draft) throws {
    guard let (part, rest) = part(path) else { throw EditError("\(name) has no such part") }
    guard !rest.isEmpty else { return try part.set(&draft, value) }
    var whole = try part.get(draft) ?? .map([])
    whole.set(value, at: rest)
    try part.set(&draft, whole)
  }
}

extension CBORValue {
  /// An element of an array by its index, or an entry of a map by its key.
  subscript(step step: CBORValue) -> CBORValue? {
    if case (.array(let elements), .unsigned(let index)) = (self, step) {
      return elements.dropFirst(Int(clamping: index)).first
    }
    return MapDraft(self)[step]
  }

  /// Sets the member at a path. A value that is not an array becomes a map.
  fileprivate mutating func set(_ value: CBORValue?, at path: ArraySlice<CBORValue>) {
    guard let step = path.first else { return }
    var inner = value
    if path.count > 1 {
      inner = self[step: step] ?? .map([])
      inner?.set(value, at: path.dropFirst())
    }
    if case (.array(var elements), .unsigned(let index)) = (self, step), index < elements.count {
      elements.replaceSubrange(Int(index)...Int(index), with: inner.map { [$0] } ?? [])
      self = .array(elements)
    } else {
      var map = MapDraft(self)
      map[step] = inner
      self = map.value
    }
  }
}

// MARK: Values

/// A type of value that edits can read and write.
protocol EditValue: SendableMetatype {
  init(edited value: CBORValue?) throws
  var edited: CBORValue? { get }
}

extension CBORValue: EditValue {
  init(edited value: CBORValue?) throws {
    guard let value else { throw EditError("a value is missing") }
    self = value
  }
  var edited: CBORValue? { self }
}

extension Optional: EditValue where Wrapped: EditValue {
  init(edited value: CBORValue?) throws { self = try value.map { try Wrapped(edited: $0) } }
  var edited: CBORValue? { flatMap(\.edited) }
}

extension MapDraft: EditValue {
  init(edited value: CBORValue?) throws { self.init(value) }
  var edited: CBORValue? { value }
}

extension [UInt8]: EditValue {
  init(edited value: CBORValue?) throws {
    guard case .bytes(let bytes)? = value else { throw EditError("the value must be bytes") }
    self = bytes
  }
  var edited: CBORValue? { .bytes(self) }
}

extension String: EditValue {
  init(edited value: CBORValue?) throws {
    guard case .text(let text)? = value else { throw EditError("the value must be text") }
    self = text
  }
  var edited: CBORValue? { .text(self) }
}

extension Int64: EditValue {
  init(edited value: CBORValue?) throws {
    switch value {
    case .unsigned(let number)?: self = Int64(clamping: number)
    case .negative(let number)?: self = -1 - Int64(clamping: number)
    default: throw EditError("the value must be an integer")
    }
  }
  var edited: CBORValue? { .integer(self) }
}

extension Int: EditValue {
  init(edited value: CBORValue?) throws { self = Int(try Int64(edited: value)) }
  var edited: CBORValue? { .integer(Int64(self)) }
}

extension Bool: EditValue {
  init(edited value: CBORValue?) throws {
    guard case .bool(let flag)? = value else { throw EditError("the value must be true or false") }
    self = flag
  }
  var edited: CBORValue? { .bool(self) }
}

extension RawRepresentable<String> where Self: EditValue {
  init(edited value: CBORValue?) throws {
    let name = try String(edited: value)
    guard let value = Self(rawValue: name) else { throw EditError("\(name) is not a \(Self.self)") }
    self = value
  }
  var edited: CBORValue? { .text(rawValue) }
}

extension Curve: EditValue {}
extension AnchorKind: EditValue {}
extension EncodingStyle: EditValue {}

/// Seconds since 1970.
extension Timestamp: EditValue {
  init(edited value: CBORValue?) throws { self.init(secondsSince1970: try Int64(edited: value)) }
  var edited: CBORValue? { .integer(secondsSince1970) }
}

/// Each JSON value maps to the CBOR value of the same kind. Bytes become base64url.
extension JSON: EditValue {
  init(edited value: CBORValue?) throws {
    self =
      switch value {
      case .map(let entries)?:
        .object(try entries.map { Member(try String(edited: $0.key), try JSON(edited: $0.value)) })
      case .array(let elements)?: .array(try elements.map { try JSON(edited: $0) })
      case .text(let text)?: .string(text)
      case .bytes(let bytes)?: .string(Base64.encodeURLSafe(bytes))
      case .double(let number)?: .double(number)
      case .bool(let flag)?: .bool(flag)
      case .null?: .null
      default: .integer(try Int64(edited: value))
      }
  }

  var edited: CBORValue? {
    switch self {
    case .object(let members): .map(members.map { (.text($0.name), $0.value.edited ?? .null) })
    case .array(let elements): .array(elements.map { $0.edited ?? .null })
    case .string(let text), .largeInteger(let text): .text(text)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .bool(let flag): .bool(flag)
    case .null, .written: .null
    }
  }
}

extension EditPart where Draft == [CBORValue] {
  static func element(_ index: Int) -> Self {
    EditPart(get: { $0[index] }, set: { $0[index] = try CBORValue(edited: $1) })
  }
}

extension EditPart where Draft == [String] {
  /// One part of a compact JWE or JWS, as the bytes decoded from base64url.
  static func base64(_ index: Int) -> Self {
    EditPart(
      get: { .bytes(Base64.decodeURLSafe($0[index]) ?? []) },
      set: { $0[index] = Base64.encodeURLSafe(try [UInt8](edited: $1)) })
  }
}
