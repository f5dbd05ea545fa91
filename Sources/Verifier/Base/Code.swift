import Synchronization

/// The stable name of a check or of a refusal, in HTTP problems, reports, metrics, audit lines and test vectors.
///
/// The name describes the *failure*. If the check succeeds, a report lists the code as `passed`. The check's module
/// declares the code in one statement and lists it in one `CodeGroup`. `mdoc codes` prints all codes.
public struct Code: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// Never freed, so that copying a code updates no reference count.
  private let line: Unmanaged<Line>

  /// Declares a code.
  ///
  /// - Parameters:
  ///   - fails: the finding, a sentence without a full stop.
  ///   - clause: the clause that the check enforces.
  ///   - passes: the report's sentence for a passed check; nil for codes that do not check a response, a request or a
  ///     list.
  ///   - warns: whether a finding is only a warning, except in strict mode.
  ///   - status: the HTTP status of the API's reply; 200 for a verdict inside a session.
  ///   - cases: negative cases that no mock variant covers, separated by spaces.
  package init(
    _ name: String, _ fails: String, _ clause: String, _ remedy: Remedy, passes: String? = nil, warns: Bool = false,
    status: Int = 200, cases: String = ""
  ) {
    self.init(named: name)
    let entry = CodeEntry(
      summary: fails, clause: clause, remedy: remedy.text, passedSentence: passes, isWarning: warns,
      httpStatus: status, cases: cases.split(separator: " ").map(String.init))
    let declaration = Declaration(entry)
    let first = line._withUnsafeGuaranteedRef { $0.declaration.storeIfNil(declaration) }
    precondition(first === declaration, "\(name) is declared twice")
  }

  /// Finds the code of this name, for modules that do not import the declaration, such as the mock wallet.
  package init(named name: String) {
    line = Self.lines.withLock { lines in
      if let known = lines[name] { return known }
      let line = Unmanaged.passRetained(Line(name: name, index: lines.count))
      lines[name] = line
      return line
    }
  }

  public var rawValue: String { line._withUnsafeGuaranteedRef { $0.name } }
  public var description: String { rawValue }
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The code's number in this process, for tables of codes. Never store the number: it differs in each process.
  package var index: Int { line._withUnsafeGuaranteedRef { $0.index } }

  /// The code's meaning. The code's declaration must have run. Reading `Code.allCases` runs all declarations.
  public var entry: CodeEntry {
    guard let declaration = line._withUnsafeGuaranteedRef({ $0.declaration.load() }) else {
      preconditionFailure("\(rawValue) is not declared, or its declaration has not run yet")
    }
    return declaration.entry
  }

  public var passedSentence: String? { entry.passedSentence }
  package var httpStatus: Int { entry.httpStatus }

  public static func == (left: Code, right: Code) -> Bool { left.line.toOpaque() == right.line.toOpaque() }

  public func hash(into hasher: inout Hasher) { hasher.combine(line.toOpaque()) }

  private final class Line: Sendable {
    let name: String
    let index: Int
    let declaration = AtomicLazyReference<Declaration>()

    init(name: String, index: Int) {
      self.name = name
      self.index = index
    }
  }

  private final class Declaration: Sendable {
    let entry: CodeEntry

    init(_ entry: CodeEntry) { self.entry = entry }
  }

  private static let lines = Locked<[String: Unmanaged<Line>]>([:])
}

/// The meaning of one code, for display in `mdoc codes`, problems and reports.
public struct CodeEntry: Sendable {
  /// The finding, in one sentence.
  public let summary: String
  /// The clause that the check enforces.
  public let clause: String
  /// The advice for a finding.
  public let remedy: String
  /// A report's sentence for a passed check, without a full stop; nil for codes that do not check a response, a request
  /// or a list.
  public let passedSentence: String?
  /// Whether a finding is only a warning, except in strict mode.
  public let isWarning: Bool
  package let httpStatus: Int
  package let cases: [String]
}

/// The codes of one stage of verification, or of one service, in the order of the checks.
public struct CodeGroup: Sendable {
  /// The heading in the documentation. Several groups may share a heading.
  public let title: String
  public let codes: [Code]

  package init(_ title: String, _ codes: [Code]) {
    self.title = title
    self.codes = codes
  }
}

extension Code {
  // Prefixes of clause references.
  package static let iso = "ISO/IEC 18013-5:2021"
  package static let edition2 = "ISO/IEC 18013-5, second edition"
  package static let openID = "OpenID4VP 1.0"

  /// The advice for a finding.
  package struct Remedy: Sendable, ExpressibleByStringLiteral {
    let text: String

    package init(stringLiteral text: String) { self.text = text }

    package static func + (first: Remedy, second: Remedy) -> Remedy { Remedy(stringLiteral: first.text + second.text) }

    package static let wallet: Remedy =
      "The wallet's response is broken; ask again, and report it to the wallet's maker if it persists."
    package static let forged: Remedy = "Treat the response as forged or damaged; request again with a new session."
    package static let issuer: Remedy =
      "Report it to the issuing authority, which must correct its certificates or signatures."
  }
}
