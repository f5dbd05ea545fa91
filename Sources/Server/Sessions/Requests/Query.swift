import Base

package struct QueryItem: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A query parameter, for the OpenAPI document.
package struct QueryParameter: Sendable {
  package let name: String
  package let summary: String
  package let schema: Schema
  package var isRequired = false

  package init(_ name: String, _ schema: Schema, _ summary: String, isRequired: Bool = false) {
    self.name = name
    self.summary = summary
    self.schema = schema
    self.isRequired = isRequired
  }
}

/// The query of an operation, defined once for reading the parameters and for describing them.
package struct Query<Value: Sendable>: Sendable {
  package struct Member: Sendable {
    fileprivate let parameter: QueryParameter
    /// The words that follow the parameter's name in a message.
    fileprivate let rule: String
    fileprivate let isList: Bool
    fileprivate let read: @Sendable (String, inout Value) -> Bool
  }

  private let initial: Value
  private let members: [Member]

  package init(_ initial: Value, _ members: Member...) {
    self.initial = initial
    self.members = members
  }

  package var parameters: [QueryParameter] { members.map(\.parameter) }

  package func read(_ items: [QueryItem]) throws(ServiceError) -> Value {
    var value = initial
    for (index, item) in items.enumerated() {
      guard let member = members.first(where: { $0.parameter.name == item.name }) else {
        throw ServiceError(.apiUnknownMember, "Unknown query parameter `\(item.name)`.")
      }
      guard member.isList || !items[..<index].contains(where: { $0.name == item.name }) else {
        throw ServiceError(.apiInvalidRequest, "Duplicate query parameter `\(item.name)`.")
      }
      guard member.read(item.value, &value) else { throw refusal(of: item.name) }
    }
    return value
  }

  /// The refusal of a parameter that is missing or invalid.
  func refusal(of name: String) -> ServiceError {
    let rule = members.first { $0.parameter.name == name }?.rule ?? "is unknown"
    return ServiceError(.apiInvalidRequest, "`\(name)` \(rule).")
  }
}

extension Query.Member {
  package typealias Setter<Part> = @Sendable (inout Value, Part) -> Void

  /// A value that `make` reads; nil for an invalid text.
  package static func value<Part>(
    _ name: String, _ schema: Schema, _ summary: String, isRequired: Bool = false, rule: String,
    _ make: @escaping @Sendable (String) -> Part?, _ set: @escaping Setter<Part>
  ) -> Self {
    Self(parameter: QueryParameter(name, schema, summary, isRequired: isRequired), rule: rule, isList: false) {
      text, value in
      guard let part = make(text) else { return false }
      set(&value, part)
      return true
    }
  }

  package static func whole<Number: FixedWidthInteger & Sendable>(
    _ name: String, _ range: ClosedRange<Number>, _ summary: String, rule: String? = nil,
    _ set: @escaping Setter<Number>
  ) -> Self {
    value(
      name, .number(Int64(range.lowerBound)...Int64(range.upperBound)), summary,
      rule: rule ?? "must be a whole number from \(range.lowerBound) to \(range.upperBound)",
      { text in Number(text).flatMap { range.contains($0) && String($0) == text ? $0 : nil } }, set)
  }

  package static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    _ type: Choice.Type, _ name: String, _ title: String, _ summary: String, _ set: @escaping Setter<Choice>
  ) -> Self {
    let names = Choice.allCases.map(\.rawValue)
    return value(
      name, .oneOf(title, names), summary, rule: "must be one of " + names.map { "`\($0)`" }.joined(separator: ", "),
      { Choice(rawValue: $0) }, set)
  }

  /// One of several names, which may be repeated (`expand[]`).
  /// - Parameter add: returns false if the name cannot be added again.
  static func list(
    _ name: String, _ schema: Schema, of names: [String], isSet: Bool = false, _ summary: String,
    _ add: @escaping @Sendable (inout Value, String) -> Bool
  ) -> Self {
    Self(
      parameter: QueryParameter(name, schema, summary),
      rule: "must be one of " + names.map { "`\($0)`" }.joined(separator: ", ") + (isSet ? ", each once" : ""),
      isList: true
    ) { text, value in names.contains(text) && add(&value, text) }
  }

  static func limit(
    _ entries: String, most: Int = Limits.largestPage, standard: Int = Limits.pageSize, _ set: @escaping Setter<Int>
  ) -> Self {
    whole("limit", 1...most, "The maximum number of \(entries) per page; by default \(standard).", set)
  }

  static func after<ID>(
    _ entries: String, like pattern: String, _ summary: String, _ make: @escaping @Sendable (String) -> ID?,
    _ set: @escaping Setter<ID>
  ) -> Self {
    value(
      "starting_after", .text(like: pattern), summary,
      rule: "must be the id of one of this relying party's \(entries)", make, set)
  }
}
