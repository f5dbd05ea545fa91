import Base

/// What every named mock declares of itself: an answer, a list, or a vector made of them, right or wrong.
package struct MockDeclaration: Sendable {
  package var name: String
  /// What is special about it, in one sentence.
  package var summary: String
  /// The rows of the project's list of negative cases that it covers.
  package var cases: [String]
  /// Exactly the codes of the checks that fail, in the order of `Code.allCases`; the first is the primary one. Empty if
  /// it is accepted.
  package var codes: [Code]
  /// The codes that warn, in lenient mode.
  package var warnings: [Code]

  /// - Parameter cases: rows, separated by spaces.
  package init(
    _ name: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = []
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.codes = codes
    self.warnings = warnings
  }

  init(_ name: String, _ summary: String, cases: String, code: Code?, warnings: [Code] = []) {
    self.init(name, summary, cases: cases, codes: code.map { [$0] } ?? [], warnings: warnings)
  }
}

/// A change that turns a right draft into the declared one.
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
  /// The primary code; nil if it is accepted.
  package var code: Code? { codes.first }
}

/// Named mocks of a kind that has a list of all.
package protocol MockCatalogued: MockDeclared {
  static var all: [Self] { get }
}

extension MockCatalogued {
  package static func named(_ name: String) -> Self? { all.first { $0.name == name } }
}
