/// A named argument: `--name`, `--name VALUE` or `--name=VALUE`.
struct Option: Sendable {
  enum Occurrence: Sendable { case optional, required, repeatable, requiredRepeatable }

  /// Without the two hyphens.
  let name: String
  /// What stands for the value in the help; nil for a flag.
  let placeholder: String?
  let occurrence: Occurrence
  let help: String
  /// The value where none is given, as typed.
  let fallback: String?
  /// The only values that are taken, where there are few.
  let choices: [String]

  var isRepeatable: Bool { occurrence == .repeatable || occurrence == .requiredRepeatable }
  var isRequired: Bool { occurrence == .required || occurrence == .requiredRepeatable }

  /// An option with a value.
  init(
    _ name: String, _ placeholder: String, _ help: String, occurrence: Occurrence = .optional,
    fallback: String? = nil, choices: [String] = []
  ) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
    self.occurrence = occurrence
    self.fallback = fallback
    self.choices = choices
  }

  /// A flag.
  init(flag name: String, _ help: String) {
    self.name = name
    self.help = help
    placeholder = nil
    occurrence = .optional
    fallback = nil
    choices = []
  }
}
