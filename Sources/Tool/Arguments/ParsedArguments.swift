/// The values of one command line, checked against the declaration: required ones are there, and none is twice that
/// may not be.
struct ParsedArguments: Sendable {
  private var valuesByName: [String: [String]] = [:]
  /// In the order given.
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
    guard let nearest = NearestName.of(spelled, among: names + ["--help"]) else {
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
