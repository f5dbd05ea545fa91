import Base

/// The declaration of a named mock: a response, a list, or a vector made from them. The mock may be correct or wrong.
package struct MockDeclaration: Sendable {
  package var name: String
  /// The deviation, in one sentence.
  package var summary: String
  /// The rows that the mock covers in the project's list of negative cases.
  package var cases: [String]
  /// The exact codes of the failed checks; empty if the mock is accepted. The primary code comes first. The others are
  /// in the order of `Code.allCases`.
  package var codes: [Code]
  /// The codes that are only warnings in lenient mode.
  package var warnings: [Code]

  /// - Parameter cases: rows, separated by spaces.
  package init(_ name: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = []) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.codes = codes
    self.warnings = warnings
  }
}

/// A change that turns a correct draft into the declared mock.
typealias MockChange<Draft> = @Sendable (inout Draft) throws -> Void

/// A named mock with its declaration.
package protocol MockDeclared: Sendable {
  var declaration: MockDeclaration { get }
}

extension MockDeclared {
  package var name: String { declaration.name }
  package var summary: String { declaration.summary }
  package var cases: [String] { declaration.cases }
  package var codes: [Code] { declaration.codes }
  package var warnings: [Code] { declaration.warnings }
  /// The primary code; nil if the mock is accepted.
  package var code: Code? { codes.first }
}
