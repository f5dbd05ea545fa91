import Base
import FoundationEssentials
import Mdoc

/// The values of one command line, checked against the declaration: no required value is missing, and none that may
/// stand once is there twice.
struct ParsedArguments: Sendable {
  private var valuesByName: [String: [String]] = [:]
  /// The operands, in the order given.
  private(set) var operands: [String] = []
  var operand: String? { operands.first }

  init(reading words: ArraySlice<String>, options: [Option], operand: Operand?) throws(Failure) {
    var rest = words
    var onlyOperands = false
    while let word = rest.popFirst() {
      if onlyOperands || word == "-" || !word.hasPrefix("-") {
        guard let operand, operands.isEmpty || operand.isRepeatable else {
          throw .usage(Self.surplus(word, operand))
        }
        guard operand.choices.isEmpty || operand.choices.contains(word) else {
          throw .usage("\(operand.placeholder) is one of \(operand.choices.joined(separator: ", ")), not \"\(word)\"")
        }
        operands.append(word)
      } else if word == "--" {
        onlyOperands = true
      } else {
        try read(word, &rest, options)
      }
    }
    if let missing = options.first(where: { $0.isRequired && valuesByName[$0.name] == nil }) {
      throw .usage("--\(missing.name) \(missing.placeholder ?? "") is required: \(missing.help)")
    }
    if let operand, !operand.isOptional, self.operand == nil {
      throw .usage("\(operand.placeholder) is required: \(operand.help)")
    }
  }

  private mutating func read(_ word: String, _ rest: inout ArraySlice<String>, _ options: [Option]) throws(Failure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts[0])
    guard let option = options.first(where: { "--" + $0.name == spelled }) else {
      throw .usage(Self.unknown(spelled, options))
    }
    if !option.isRepeatable, valuesByName[option.name] != nil { throw .usage("\(spelled) is given twice") }
    guard let placeholder = option.placeholder else {
      guard parts.count == 1 else { throw .usage("\(spelled) takes no value") }
      valuesByName[option.name] = []
      return
    }
    let value = parts.count == 2 ? String(parts[1]) : Self.popValue(&rest)
    guard let value, !value.isEmpty else { throw .usage("\(spelled) needs a value: \(spelled) \(placeholder)") }
    guard option.choices.isEmpty || option.choices.contains(value) else {
      throw .usage("\(spelled) is one of \(option.choices.joined(separator: ", ")), not \"\(value)\"")
    }
    valuesByName[option.name, default: []].append(value)
  }

  /// The next word, unless it is an option itself: a value that begins with two hyphens is written with `=`.
  private static func popValue(_ rest: inout ArraySlice<String>) -> String? {
    guard let word = rest.first, !word.hasPrefix("--") else { return nil }
    return rest.popFirst()
  }

  private static func surplus(_ word: String, _ operand: Operand?) -> String {
    operand == nil
      ? "\"\(word)\" belongs to no option" : "\"\(word)\" is one argument too many"
  }

  private static func unknown(_ spelled: String, _ options: [Option]) -> String {
    let names = options.map { "--" + $0.name }
    guard let nearest = Spelling.nearest(to: spelled, among: names + ["--help"]) else {
      return "there is no option \(spelled) here"
    }
    return "there is no option \(spelled); did you mean \(nearest)?"
  }
}

// MARK: Values

extension ParsedArguments {
  func has(_ option: Option) -> Bool { valuesByName[option.name] != nil }

  /// All values, in the order given.
  func values(_ option: Option) -> [String] { valuesByName[option.name] ?? [] }

  /// The value, or the declared default.
  func value(_ option: Option) -> String? { valuesByName[option.name]?.first ?? option.fallback }

  /// The value of a required option, or of one with a default.
  func required(_ option: Option) throws(Failure) -> String {
    guard let value = value(option) else { throw .internal("--\(option.name) was read without being declared") }
    return value
  }
}

/// Typed values. A value of another form is a usage error that says what was expected.
extension ParsedArguments {
  /// The option's time; the machine's clock if the option is absent.
  func time(_ option: Option) throws(Failure) -> Timestamp {
    guard let text = value(option) else {
      return Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970.rounded(.down)))
    }
    if let time = Timestamp(rfc3339: text) { return time }
    if let date = FullDate(text) { return Timestamp(date: date) }
    if let seconds = Int64(text), (0...253_402_300_799).contains(seconds) {
      return Timestamp(secondsSince1970: seconds)
    }
    throw .usage(
      "--\(option.name) is a time like 2026-11-20T10:00:00Z, a date or Unix seconds up to the year 9999, not \"\(text)\""
    )
  }

  func integer(_ option: Option, in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
    let text = try required(option)
    guard let number = Int64(text), range.contains(number) else {
      throw .usage(
        "--\(option.name) is a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// Bytes in hexadecimal; nil if the option is absent.
  func hex(_ option: Option, length: ClosedRange<Int>) throws(Failure) -> [UInt8]? {
    try bytes(option, length: length, as: "hexadecimal", Hex.decode)
  }

  /// A nonce in base64, as the API gives it, or in hexadecimal. A text that is both is read as hexadecimal.
  func nonce(_ option: Option) throws(Failure) -> [UInt8] {
    let length = Limits.shortestNonceBytes...Limits.appleNonceBytes
    let decode = { (text: String) in Hex.decode(text) ?? Base64.decodeEither(text) }
    return try bytes(option, length: length, as: "hexadecimal or base64", decode) ?? []
  }

  private func bytes(
    _ option: Option, length: ClosedRange<Int>, as encoding: String, _ decode: (String) -> [UInt8]?
  ) throws(Failure) -> [UInt8]? {
    guard let text = value(option) else { return nil }
    guard let bytes = decode(text) else { throw .usage("--\(option.name) is not \(encoding)") }
    guard length.contains(bytes.count) else {
      let count = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
      throw .usage(
        "--\(option.name) has \(count); \(length.lowerBound) to \(length.upperBound) are needed")
    }
    return bytes
  }

  /// Seconds of allowed clock skew, at most a day.
  func clockSkew() throws(Failure) -> Int64 { try integer(.clockSkew, in: 0...86_400) }
}

/// Reads a command line against the declared commands. Throws the first fault, with a suggestion of what to type if one
/// can be guessed.
struct ArgumentParser {
  enum Result: Sendable {
    /// The help for the last of these commands. Each lies within the one before.
    case help([Command])
    case run(Command.Action, ParsedArguments)
  }

  let root: Command

  func parse(_ words: [String]) throws(Failure) -> Result {
    var path = [root]
    var rest = words[...]
    var command = root
    var wantsHelp = false
    while case .verbs(let verbs) = command.content {
      guard let word = rest.popFirst() else {
        if wantsHelp { return .help(path) }
        let names = verbs.map(\.name).joined(separator: ", ")
        throw .usage("say what to do: \(spelled(path)) followed by one of \(names); --help explains")
      }
      if Self.helpWords.contains(word) {
        wantsHelp = true
        continue
      }
      guard let verb = verbs.first(where: { $0.name == word }) else {
        throw .usage(unknownVerb(word, verbs, path))
      }
      path.append(verb)
      command = verb
    }
    guard case .action(let options, let operand, let action) = command.content else { return .help(path) }
    let beforeEnd = rest.prefix { $0 != "--" }
    if wantsHelp || beforeEnd.contains(where: { $0 == "--help" || $0 == "-h" }) { return .help(path) }
    do throws(Failure) {
      return .run(action, try ParsedArguments(reading: rest, options: options, operand: operand))
    } catch {
      throw .usage("\(error.message) (\(spelled(path)) --help explains)")
    }
  }

  private static let helpWords = ["--help", "-h", "help"]

  private func spelled(_ path: [Command]) -> String { path.map(\.name).joined(separator: " ") }

  private func unknownVerb(_ word: String, _ verbs: [Command], _ path: [Command]) -> String {
    let what = word.hasPrefix("-") ? "there is no option \(word)" : "there is no verb \"\(word)\""
    guard let nearest = Spelling.nearest(to: word, among: verbs.map(\.name)) else {
      return "\(what) here; there are \(verbs.map(\.name).joined(separator: ", ")) (\(spelled(path)) --help explains)"
    }
    return "\(what); did you mean \(spelled(path)) \(nearest)?"
  }
}
