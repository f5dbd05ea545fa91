import Base
import Cryptography

/// What a store keeps as JSON: objects whose members have the names of the properties, without those that are nil.
///
/// Written by hand: a session is written and read with every request, and the encoders of Codable took more time than
/// the cryptography of a verification.
package protocol StoredValue {
  var storedJSON: JSON { get }
  /// Nil for JSON of another shape; members that this version does not know are passed over.
  init?(storedJSON: JSON)
}

/// How values are written into a store's columns.
package enum StoredForm {
  package static func encode(_ value: some StoredValue) -> [UInt8] { value.storedJSON.serialized() }

  package static func decode<Value: StoredValue>(_ type: Value.Type, from bytes: [UInt8]) throws(StoreError) -> Value {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = Value(storedJSON: json) else {
      throw .corrupt("\(type)")
    }
    return value
  }

  /// JSON whose members come back in their order. It is written as an object. Earlier versions had a reader that did
  /// not keep the order, so they wrote objects as arrays, `["o", name, value, …]`, and arrays as `["a", value, …]`.
  package static func decodeOrdered(_ bytes: [UInt8]) throws(StoreError) -> JSON {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = json.array == nil ? json : plain(json) else {
      throw .corrupt("JSON")
    }
    return value
  }

  /// The same, unparsed, for a caller that only passes it on.
  package static func text(_ bytes: [UInt8]) throws(StoreError) -> JSONText {
    if bytes.first == UInt8(ascii: "[") { return JSONText(try decodeOrdered(bytes)) }
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { throw .corrupt("JSON") }
    return JSONText(written: bytes)
  }

  private static func plain(_ json: JSON) -> JSON? {
    guard case .array(let parts) = json else { return json.object == nil ? json : nil }
    var elements: [JSON] = []
    switch parts.first?.string {
    case "a":
      for part in parts.dropFirst() {
        guard let element = plain(part) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    case "o" where parts.count % 2 == 1:
      var members: [JSON.Member] = []
      for index in stride(from: 1, to: parts.count, by: 2) {
        guard let name = parts[index].string, let value = plain(parts[index + 1]) else { return nil }
        members.append(JSON.Member(name, value))
      }
      return .object(members)
    default: return nil
    }
  }
}

/// How a report's checks are stored: their codes and outcomes as five characters each, without the words that the
/// registry has for them, and the details of the few that have one.
///
///     {"run": "pTAG1fTAG2…", "details": {"1": "the detail of the second"}}
///
/// Reports of before, and those that name what this version's registry does not, are arrays of whole checks.
extension [ReportRecord.CheckRecord] {
  /// Nil where a check is not the registry's.
  var compact: JSON? {
    var run: [UInt8] = []
    run.reserveCapacity(count * StoredCheck.length)
    var details: [JSON.Member] = []
    var clauses: [JSON.Member] = []
    for (index, record) in enumerated() {
      guard case .known(let check) = record else { return nil }
      run.append(check.outcome.letter)
      run.append(contentsOf: StoredCheck.tags[check.code.place])
      if let detail = check.detail { details.append(JSON.Member(String(index), .string(detail))) }
      if let clause = check.ownClause { clauses.append(JSON.Member(String(index), .string(clause))) }
    }
    return .members([
      "run": .string(String(decoding: run, as: UTF8.self)), "details": details.isEmpty ? nil : .object(details),
      "clauses": clauses.isEmpty ? nil : .object(clauses),
    ])
  }

  var writtenOut: JSON {
    .array(
      map { record in
        .members([
          "code": .string(record.code), "outcome": .string(record.outcome), "clause": .string(record.clause),
          "detail": record.detail.map { .string($0) },
        ])
      })
  }

  init?(storedJSON json: JSON) {
    if let records = json.array {
      self = []
      reserveCapacity(records.count)
      for record in records {
        guard let code = record["code"]?.string, let outcome = record["outcome"]?.string,
          let clause = record["clause"]?.string
        else { return nil }
        append(.init(code: code, outcome: outcome, clause: clause, detail: record["detail"]?.string))
      }
      return
    }
    guard let text = json["run"]?.string else { return nil }
    let run = Array<UInt8>(text.utf8)
    let details = json["details"]
    guard run.count.isMultiple(of: StoredCheck.length) else { return nil }
    self = []
    reserveCapacity(run.count / StoredCheck.length)
    for start in stride(from: 0, to: run.count, by: StoredCheck.length) {
      guard let outcome = Check.Outcome(letter: run[start]) else { return nil }
      let tag = Array<UInt8>(run[(start + 1)..<(start + StoredCheck.length)])
      let detail = details?[String(count)]?.string
      if let code = StoredCheck.codes[tag] {
        let clause = json["clauses"]?[String(count)]?.string
        append(.known(Check(code, outcome, detail: detail, clause: clause)))
      } else {
        guard let number = Base64.decodeURLSafe(String(decoding: tag, as: UTF8.self)) else { return nil }
        // A node of a later version has stored it: the session can be read and redacted all the same.
        append(
          .init(
            code: "unknown." + Hex.encode(number), outcome: outcome.rawValue,
            clause: "a check of a later version", detail: detail))
      }
    }
  }
}

enum StoredCheck {
  /// A letter of the outcome and a code's tag.
  static let length = 5

  /// The first 24 bits of SHA-256 of each code's name, in base64url: a code keeps its tag for ever, as it does its name.
  /// By the codes' places.
  static let tags: [[UInt8]] = Code.allCases.map { code in
    Array(Base64.encodeURLSafe(HashAlgorithm.sha256.hash(Array(code.rawValue.utf8)).prefix(3)).utf8)
  }

  static let codes: [[UInt8]: Code] = Dictionary(Code.allCases.map { (tags[$0.place], $0) }) { first, _ in first }
}

extension Check.Outcome {
  fileprivate var letter: UInt8 {
    switch self {
    case .passed: UInt8(ascii: "p")
    case .failed: UInt8(ascii: "f")
    case .notRun: UInt8(ascii: "n")
    case .warning: UInt8(ascii: "w")
    }
  }

  fileprivate init?(letter: UInt8) {
    switch letter {
    case UInt8(ascii: "p"): self = .passed
    case UInt8(ascii: "f"): self = .failed
    case UInt8(ascii: "n"): self = .notRun
    case UInt8(ascii: "w"): self = .warning
    default: return nil
    }
  }
}
