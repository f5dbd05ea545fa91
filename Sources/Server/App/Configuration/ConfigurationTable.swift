import Base

/// The members of one object of the configuration: what its reader knows, and what the schema says of it.
///
/// Both are made from these tables, and a test walks the schema and the reader side by side, so that neither says what
/// the other does not.
struct ConfigurationTable: Sendable {
  /// What the schema calls the object.
  let name: String
  let members: [Member]

  /// The names that a reader knows.
  var names: [String] { members.map(\.name) }

  struct Member: Sendable {
    let name: String
    let kind: Kind
    let summary: String
    let isRequired: Bool
    /// Whether a running server takes a new value only by a new start.
    let needsRestart: Bool

    init(
      _ name: String, _ kind: Kind, _ summary: String, isRequired: Bool = false, needsRestart: Bool = false
    ) {
      self.name = name
      self.kind = kind
      self.summary = summary
      self.isRequired = isRequired
      self.needsRestart = needsRestart
    }
  }

  /// What a member's value may be.
  indirect enum Kind: Sendable {
    /// Not empty; of a form (a regular expression, ECMA-262), where one is given.
    case text(String? = nil, default: String? = nil)
    case flag(default: Bool)
    /// `default` is nil for a member without which something is off.
    case integer(ClosedRange<Int64>, default: Int64?)
    case choice([String], default: String?)
    case object(ConfigurationTable)
    case list(of: Kind, least: Int)
    /// An object whose members are named by people, at least one.
    case map(of: Kind)
    case either([Kind])
  }
}
