import App
import Base

/// The types for the verbs' reports and for the parts of their lines.
typealias Report = App.Report
typealias Span = App.Span

extension Report {
  static func members(_ members: KeyValuePairs<String, any MemberValue>) -> Report {
    .object(members.map { .init($0.key, $0.value.json) })
  }

  static func member(_ name: String, _ value: some MemberValue) -> Report { .object([.init(name, value.json)]) }

  /// The members of an existing JSON object.
  static func members(of json: JSON) -> Report { .object(json.object ?? []) }

  static func row(_ label: String, _ text: String?, as member: String) -> Report {
    .labelled(label, text, .init(member, text.json))
  }

  static func row(_ label: String, _ text: String?, as member: String, _ value: some MemberValue) -> Report {
    .labelled(label, text, .init(member, value.json))
  }
}

// MARK: Checks

extension Report {
  /// Checks in columns of outcome, code and clause, with their details. The remedies follow the failed checks.
  static func listed(_ title: String, _ checks: [Check], as member: String? = "checks") -> Report {
    let codeWidth = checks.map(\.code.rawValue.count).max() ?? 0
    let lines = checks.flatMap { check in
      let code = Wrapping.padded(check.code.rawValue, to: codeWidth)
      let clause = text(
        [.faint(check.clause)], lead: ["  ", check.outcome.label, "  \(code)  "], hanging: 13 + codeWidth)
      return [clause] + (check.detail.map { [paragraph("\($0)", lead: Wrapping.spaces(13))] } ?? [])
    }
    let block =
      checks.isEmpty ? [] : [line(.bold(title))] + lines + remedies(of: checks.filter { $0.outcome == .failed })
    return .section((member.map { [.member($0, checks)] } ?? []) + block)
  }

  /// The remedies of the checks, without duplicates.
  static func remedies(of checks: [Check]) -> [Report] {
    checks.map(\.code.entry.remedy).unique.map { paragraph("\($0)", lead: "  What to do: ", hanging: 4) }
  }
}

extension Check: MemberValue {
  /// The check in the form of the HTTP API's reports.
  var json: JSON { .of(["code": code.rawValue, "outcome": outcome.rawValue, "clause": clause, "detail": detail]) }
}

// MARK: JSON

extension [Report] {
  var json: JSON {
    for case .document(let json) in self { return json }
    return .object(flatMap(\.jsonMembers))
  }
}

extension Report {
  fileprivate var jsonMembers: [JSON.Member] {
    switch self {
    case .object(let members): members
    case .labelled(_, _, let member?): [member]
    case .section(let nodes): nodes.flatMap(\.jsonMembers)
    case .list(let name, let items): [.init(name, .array(items.map(\.json)))]
    default: []
    }
  }
}

/// A value with a JSON form: a time becomes its seconds, and nil becomes null.
protocol MemberValue: Sendable {
  var json: JSON { get }
}

extension JSON: MemberValue {
  var json: JSON { self }

  /// The content of a JSON file: indented, with a line feed at the end.
  var fileContent: [UInt8] { serialized(pretty: true) + [0x0a] }

  /// A JSON object with these members.
  static func of(_ members: KeyValuePairs<String, any MemberValue>) -> JSON {
    .object(members.map { .init($0.key, $0.value.json) })
  }
}

extension String: MemberValue { var json: JSON { .string(self) } }
extension Int: MemberValue { var json: JSON { .integer(Int64(self)) } }
extension Int64: MemberValue { var json: JSON { .integer(self) } }
extension Bool: MemberValue { var json: JSON { .bool(self) } }
extension Timestamp: MemberValue { var json: JSON { secondsSince1970.json } }
extension Optional: MemberValue where Wrapped: MemberValue { var json: JSON { self?.json ?? .null } }
extension Array: MemberValue where Element: MemberValue { var json: JSON { .array(map(\.json)) } }

/// A number with its noun. The plural ends with "s".
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
