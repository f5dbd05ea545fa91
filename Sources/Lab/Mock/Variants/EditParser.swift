import Base
import CBOR

/// Reads edits of a table of variants.
///
/// Edits are separated by `;`. Each edit consists of a stage (`Stages`), a part of its draft, then keys and indices. A
/// path that begins with a dot has the stage of the previous edit:
/// - `mso.version = "9.9"`, `issuerAuth.unprotected[33] = [it]`, `delete mso.deviceKeyInfo.deviceKey[-3]`
/// - `duplicate response.status`, `duplicate mso.docType = "org.example.other.1"`
/// - `setup.signer("P-384")`: an action of the stage
///
/// Values are in diagnostic notation (RFC 8949, 8): `1`, `-7`, `0.5`, `NaN`, `"text"`, `h'00ff'`, `[1, 2]`, `{3: -7}`,
/// `0("2026-01-01T00:00:00Z")`, `true`, `null`, `undefined`. In addition, `it` is the current value. A path is the
/// value of another part of the draft. `30d` and `2h` are seconds. `+` and `-` add, subtract and concatenate.
/// `EditFunctions` defines the functions. An edit does nothing if a required value is missing from the draft.
struct EditParser {
  private let text: [Character]
  private var position = 0
  /// The text's offset in its row.
  private let column: Int
  private let constants: [String: CBORValue]

  init(_ text: some StringProtocol, column: Int = 0, constants: [String: CBORValue] = [:]) {
    self.text = Array(text)
    self.column = column
    self.constants = constants
  }

  mutating func mutation() throws(VariantTableError) -> MockMutation {
    var mutation = MockMutation()
    var stage: (any AnyEditStage)?
    while !isAtEnd {
      try readEdit(of: &stage, into: &mutation)
      if !isAtEnd { try expect(";") }
    }
    return mutation
  }

  /// Reads a constant `NAME = VALUE`, which applies to the rows that follow.
  mutating func constant() throws(VariantTableError) -> (name: String, value: CBORValue) {
    let name = try readName()
    try expect("=")
    let term = try readSum()
    guard isAtEnd, let value = try? term(EditScope(it: nil) { _ in nil }) else { throw error("a value is expected") }
    return (name, value)
  }

  // MARK: Edits

  private mutating func readEdit(of stage: inout (any AnyEditStage)?, into mutation: inout MockMutation)
    throws(VariantTableError)
  {
    let verb = ["delete", "duplicate"].first { take(word: $0) }
    if peek != "." {
      let name = try readName()
      stage = Stages.all.first { $0.name == name }
      if stage == nil { throw error("unknown stage \(name)") }
    }
    guard let stage else { throw error("a stage is expected") }
    let start = position
    let edit = try readEdit(verb)
    if let fault = stage.fault(in: edit) { throw error(fault, at: start) }
    stage.add(edit, to: &mutation)
  }

  private mutating func readEdit(_ verb: String?) throws(VariantTableError) -> Edit {
    var path = EditPath()
    try readSteps(into: &path)
    switch verb {
    case "delete": return .assign(path, nil)
    case "duplicate": return .duplicate(path, take("=") ? try readSum() : nil)
    default:
      if path.names.count == 1, path.steps.count == 1, take("(") {
        return .perform(path.names[0], try readList(until: ")"))
      }
      try expect("=")
      return .assign(path, try readSum())
    }
  }

  /// Reads any number of steps: `.name` and `[key]`.
  private mutating func readSteps(into path: inout EditPath) throws(VariantTableError) {
    while true {
      if take(".") {
        let name = try readName()
        if path.names.count == path.steps.count { path.names.append(name) }
        path.steps.append { _ in .text(name) }
      } else if take("[") {
        path.steps.append(try readSum())
        try expect("]")
      } else {
        return
      }
    }
  }

  // MARK: Values

  private mutating func readSum() throws(VariantTableError) -> EditTerm {
    var sum = try readTerm()
    while peek == "+" || peek == "-" {
      let isSum = take("+")
      if !isSum { try expect("-") }
      let (left, right) = (sum, try readTerm())
      sum = { scope in
        guard let left = try left(scope), let right = try right(scope) else { return nil }
        return isSum ? try left.adding(right) : .integer(try Int64(edited: left) - Int64(edited: right))
      }
    }
    return sum
  }

  private mutating func readTerm() throws(VariantTableError) -> EditTerm {
    skipSpace()
    switch peek {
    case "\"": return constant(.text(try readText()))
    case "[":
      try expect("[")
      let elements = try readList(until: "]")
      return { scope in try Self.values(elements, scope).map { .array($0) } }
    case "{":
      try expect("{")
      let entries = try readEntries()
      return { scope in
        guard let keys = try Self.values(entries.map(\.key), scope),
          let values = try Self.values(entries.map(\.value), scope)
        else { return nil }
        return .map(zip(keys, values).map { (key: $0, value: $1) })
      }
    case let digit? where digit == "-" || digit.isNumber: return try readNumber()
    case "h" where position + 1 < text.count && text[position + 1] == "'":
      position += 2
      let digits = readWhile { $0 != "'" }
      guard let bytes = Hex.decode(digits) else { throw error("hexadecimal digits are expected") }
      try expect("'")
      return constant(.bytes(bytes))
    default: return try readNamed()
    }
  }

  /// Reads a constant, a call, `it` or a path.
  private mutating func readNamed() throws(VariantTableError) -> EditTerm {
    let start = position
    let name = try readName()
    if take("(") {
      guard let function = EditFunctions.all[name] else { throw error("unknown function \(name)", at: start) }
      let arguments = try readList(until: ")")
      return { scope in
        try Self.values(arguments, scope).flatMap { try function(EditArguments(values: $0)) }
      }
    }
    if let value = constants[name] ?? EditFunctions.constants[name] { return constant(value) }
    var path = EditPath(names: [name])
    if name != "it" { path.steps.append { _ in .text(name) } }
    try readSteps(into: &path)
    let steps = path.steps
    return { scope in
      guard let keys = try Self.values(steps, scope) else { return nil }
      return name == "it" ? keys.reduce(scope.it) { $0?[step: $1] } : try scope.read(keys)
    }
  }

  /// Reads a number, a span of time, or a tag with its content.
  private mutating func readNumber() throws(VariantTableError) -> EditTerm {
    let start = position
    let sign = take("-") ? "-" : ""
    let digits = sign + readWhile { $0.isNumber || $0 == "." }
    if digits.contains(".") {
      guard let number = Double(digits) else { throw error("this must be a number", at: start) }
      return constant(.double(number))
    }
    if !digits.hasPrefix("-"), let number = UInt64(digits) {
      if take("(") {
        let content = try readSum()
        try expect(")")
        return { scope in try content(scope).map { .tagged(number, $0) } }
      }
      if number > Int64.max { return constant(.unsigned(number)) }
    }
    guard let number = Int64(digits) else { throw error("this must be a number", at: start) }
    for (unit, seconds) in [("d", Seconds.day), ("h", Seconds.hour)] where take(word: unit) {
      return constant(.integer(number * seconds))
    }
    return constant(.integer(number))
  }

  private mutating func readText() throws(VariantTableError) -> String {
    try expect("\"")
    var content = ""
    while position < text.count, text[position] != "\"" {
      if text[position] == "\\" { position += 1 }
      if position < text.count { content.append(text[position]) }
      position += 1
    }
    try expect("\"")
    return content
  }

  private mutating func readList(until end: Character) throws(VariantTableError) -> [EditTerm] {
    var terms: [EditTerm] = []
    while !take(end) {
      if !terms.isEmpty { try expect(",") }
      terms.append(try readSum())
    }
    return terms
  }

  private mutating func readEntries() throws(VariantTableError) -> [(key: EditTerm, value: EditTerm)] {
    var entries: [(EditTerm, EditTerm)] = []
    while !take("}") {
      if !entries.isEmpty { try expect(",") }
      let key = try readSum()
      try expect(":")
      entries.append((key, try readSum()))
    }
    return entries
  }

  private func constant(_ value: CBORValue) -> EditTerm { { _ in value } }

  /// Nil if any of the values is absent.
  private static func values(_ terms: [EditTerm], _ scope: EditScope) throws -> [CBORValue]? {
    let values = try terms.compactMap { try $0(scope) }
    return values.count == terms.count ? values : nil
  }

  // MARK: Characters

  private var isAtEnd: Bool { peek == nil }
  private var peek: Character? { text[position...].first { $0 != " " } }

  private mutating func skipSpace() { _ = readWhile { $0 == " " } }

  private mutating func readWhile(_ isIncluded: (Character) -> Bool) -> String {
    let run = text[position...].prefix(while: isIncluded)
    position = run.endIndex
    return String(run)
  }

  private mutating func take(_ character: Character) -> Bool {
    guard peek == character else { return false }
    skipSpace()
    position += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    let start = position
    skipSpace()
    if readWhile({ $0.isLetter }) == word { return true }
    position = start
    return false
  }

  private mutating func expect(_ character: Character) throws(VariantTableError) {
    if !take(character) { throw error("\(character) is expected") }
  }

  private mutating func readName() throws(VariantTableError) -> String {
    skipSpace()
    let name = readWhile { $0.isLetter || $0.isNumber || $0 == "_" }
    if name.isEmpty { throw error("a name is expected") }
    return name
  }

  private func error(_ message: String, at start: Int? = nil) -> VariantTableError {
    VariantTableError(column: column + (start ?? position) + 1, message: message)
  }
}
