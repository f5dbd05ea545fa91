import App
import Base
import FoundationEssentials
import Mdoc

/// A command line's values, checked against the declaration for missing and duplicate values.
struct Arguments: Sendable {
  private var valuesByName: [String: [String]] = [:]
  /// The operands, in the order given.
  private(set) var operands: [String] = []
  var operand: String? { operands.first }
  /// The terminal or file that the verb prints to.
  let console: Console

  init(
    reading words: ArraySlice<String>, options: [Option], operand: Operand?, console: Console = .process
  ) throws(Failure) {
    self.console = console
    var rest = words
    var onlyOperands = false
    while let word = rest.popFirst() {
      if onlyOperands || word == "-" || !word.hasPrefix("-") {
        guard let operand else { throw .usage("unexpected argument \"\(word)\"") }
        guard operands.isEmpty || operand.isRepeatable else { throw .usage("unexpected argument \"\(word)\"") }
        guard operand.choices.isEmpty || operand.choices.contains(word) else {
          let choices = operand.choices.joined(separator: ", ")
          throw .usage("\(operand.placeholder) must be one of \(choices), not \"\(word)\"")
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
      let nearest = Spelling.nearest(to: spelled, among: options.map { "--" + $0.name } + ["--help"])
      throw .usage("there is no option \(spelled)" + (nearest.map { "; did you mean \($0)?" } ?? " here"))
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
      throw .usage("\(spelled) must be one of \(option.choices.joined(separator: ", ")), not \"\(value)\"")
    }
    valuesByName[option.name, default: []].append(value)
  }

  /// The next word, unless it begins with two hyphens. A value with two leading hyphens needs the form
  /// `--option=value`.
  private static func popValue(_ rest: inout ArraySlice<String>) -> String? {
    guard let word = rest.first, !word.hasPrefix("--") else { return nil }
    return rest.popFirst()
  }
}

// MARK: Values

extension Arguments {
  func has(_ option: Option) -> Bool { valuesByName[option.name] != nil }

  /// All values, in the order given.
  func values(_ option: Option) -> [String] { valuesByName[option.name] ?? [] }

  /// The value, or the declared default.
  func value(_ option: Option) -> String? { valuesByName[option.name]?.first ?? option.fallback }

  /// The value of an option that is required or has a default.
  func required(_ option: Option) throws(Failure) -> String {
    guard let value = value(option) else { throw .internal("--\(option.name) was read without being declared") }
    return value
  }
}

extension Arguments {
  /// Prints the report as text, or as JSON with `--json`.
  func print(_ report: [Report]) {
    if has(.json) { console.print(report.json) } else { console.print(report) }
  }
}

/// Typed values. A value of another form is a usage error that states the expected form.
extension Arguments {
  /// The option's time; the machine's time if the option is absent.
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
      "--\(option.name) must be a time like 2026-11-20T10:00:00Z, a date or Unix seconds (up to 9999), not \"\(text)\""
    )
  }

  func integer(_ option: Option, in range: ClosedRange<Int64>) throws(Failure) -> Int64 {
    let text = try required(option)
    guard let number = Int64(text), range.contains(number) else {
      throw .usage(
        "--\(option.name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// - Parameter form: the accepted addresses, for the message.
  func address(
    _ option: Option, _ form: String, where isAccepted: (ListenAddress) -> Bool = { _ in true }
  ) throws(Failure) -> ListenAddress {
    let text = try required(option)
    guard let address = ListenAddress(text), isAccepted(address) else {
      throw .usage("--\(option.name) must be \(form), not \"\(text)\"")
    }
    return address
  }

  /// Bytes in hexadecimal; nil if the option is absent.
  func hex(_ option: Option, length: ClosedRange<Int>) throws(Failure) -> [UInt8]? {
    try bytes(option, length: length, as: "hexadecimal", Hex.decode)
  }

  /// A nonce in base64, as in the API, or in hexadecimal. A text that is valid as both is read as hexadecimal.
  func nonce(_ option: Option) throws(Failure) -> [UInt8] {
    let length = Limits.shortestNonceBytes...Limits.appleNonceBytes
    let decode = { (text: String) in Hex.decode(text) ?? Base64.decodeEither(text) }
    return try bytes(option, length: length, as: "hexadecimal or base64", decode) ?? []
  }

  /// The two parts of KEY=VALUE. The last equals sign separates them, since a key may be an address with equals signs.
  static func pair(_ text: String, of option: Option) throws(Failure) -> (String, String) {
    guard let equals = text.lastIndex(of: "="), equals > text.startIndex, text.index(after: equals) < text.endIndex
    else { throw .usage("--\(option.name) is \(option.placeholder ?? ""), not \"\(text)\"") }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
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

/// Reads a command line against the declared commands. Throws the first error, with a suggestion if the intended word
/// can be guessed.
struct ArgumentParser {
  enum Result: Sendable {
    /// The help for the last of these commands. Each command belongs to the previous command.
    case help([Command])
    case run(Command.Action, Arguments)
  }

  let root: Command
  let console: Console

  func parse(_ words: [String]) throws(Failure) -> Result {
    var path = [root]
    var rest = words[...]
    var command = root
    var wantsHelp = false
    while command.action == nil {
      let verbs = command.verbs
      guard let word = rest.popFirst() else {
        if wantsHelp { return .help(path) }
        let names = verbs.map(\.name).joined(separator: ", ")
        throw .usage("a verb is required: \(spelled(path)) followed by one of \(names); --help explains them")
      }
      if Self.helpWords.contains(word) {
        wantsHelp = true
        continue
      }
      guard let verb = verbs.first(where: { $0.name == word }) else { throw .usage(unknownVerb(word, verbs, path)) }
      path.append(verb)
      command = verb
    }
    guard let action = command.action else { return .help(path) }
    let beforeEnd = rest.prefix { $0 != "--" }
    if wantsHelp || beforeEnd.contains(where: { $0 == "--help" || $0 == "-h" }) { return .help(path) }
    do throws(Failure) {
      return .run(
        action, try Arguments(reading: rest, options: command.options, operand: command.operand, console: console))
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
