import Base

/// What is declared of every named right or wrong thing: of answers, of lists, and of the vectors made of them.
package struct MockDeclaration: Sendable {
  package var name: String
  /// What is particular about it, in one sentence.
  package var summary: String
  /// The rows of the project's list of negative cases that it answers.
  package var cases: [String]
  /// Exactly the codes that a verifier finds failed, in the order of `Code.allCases`; the first is the primary one.
  /// None: it is accepted.
  package var codes: [Code]
  /// The codes that warn, in lenient mode.
  package var warnings: [Code]

  /// - Parameter cases: rows, with spaces between them.
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

/// What makes a right draft the one that is declared.
typealias MockChange<Draft> = @Sendable (inout Draft) throws -> Void

/// Something right or wrong with its declaration, and with what it is made by.
package protocol MockDeclared: Sendable {
  var declaration: MockDeclaration { get }
}

extension MockDeclared {
  package var name: String { declaration.name }
  package var summary: String { declaration.summary }
  package var cases: [String] { declaration.cases }
  package var codes: [Code] { declaration.codes }
  package var warnings: [Code] { declaration.warnings }
  /// The primary code; nil: it is accepted.
  package var code: Code? { codes.first }
}

/// Declared things of which all are known.
package protocol MockCatalogued: MockDeclared {
  static var all: [Self] { get }
}

extension MockCatalogued {
  package static func named(_ name: String) -> Self? { all.first { $0.name == name } }
}
