import Base
import Cryptography
import Longfellow
import Mdoc

package protocol StoredValue: SendableMetatype {
  static var stored: StoredShape<Self> { get }
}

extension StoredValue {
  package var storedJSON: JSON { Self.stored.write(self) }

  /// Nil if the JSON has another shape.
  package init?(storedJSON json: JSON) {
    guard let value = Self.stored.read(json) else { return nil }
    self = value
  }
}

/// Writes and reads a stored value. Unlike `Shape`, collects no faults and ignores unknown members.
package struct StoredShape<Value>: Sendable {
  let write: @Sendable (Value) -> JSON
  let read: @Sendable (JSON) -> Value?
}

extension StoredShape {
  /// A class, since generic code would copy a structure for each value that is read or written.
  final class Member<Part>: Sendable {
    let name: String
    /// Nil if the member is omitted.
    let write: @Sendable (Value) -> JSON?
    let read: @Sendable (JSON?) -> Part?

    init(
      name: String, write: @escaping @Sendable (Value) -> JSON?, read: @escaping @Sendable (JSON?) -> Part?
    ) {
      self.name = name
      self.write = write
      self.read = read
    }

    fileprivate func part(of json: JSON) throws -> Part {
      guard let part = read(json[name]) else { throw StoreError.corrupt(name) }
      return part
    }
  }

  init<each Part>(_ make: @escaping @Sendable (repeat each Part) -> Value, _ members: repeat Member<each Part>) {
    var writers: [(name: String, write: @Sendable (Value) -> JSON?)] = []
    for member in repeat each members { writers.append((member.name, member.write)) }
    self.init { [writers] value in
      var written: [JSON.Member] = []
      for writer in writers {
        if let json = writer.write(value) { written.append(JSON.Member(writer.name, json)) }
      }
      return .object(written)
    } read: { json in
      do { return make(repeat try (each members).part(of: json)) } catch { return nil }
    }
  }
}

extension StoredShape.Member {
  convenience init(_ name: String, _ get: @escaping @Sendable (Value) -> Part) where Part: StoredValue {
    self.init(name: name, write: { get($0).storedJSON }, read: { $0.flatMap(Part.init(storedJSON:)) })
  }

  /// A member that may be missing. A value of another shape is an error.
  static func optional<One: StoredValue>(_ name: String, _ get: @escaping @Sendable (Value) -> One?) -> Self
  where Part == One? {
    Self(
      name: name, write: { get($0)?.storedJSON },
      read: { json in json.map { json in One(storedJSON: json).map { .some($0) } } ?? .some(nil) })
  }

  /// A list. An empty list is omitted, as it is in older values.
  static func anyOf<One: StoredValue>(_ name: String, _ get: @escaping @Sendable (Value) -> [One]) -> Self
  where Part == [One] {
    let list = list(name, get)
    return Self(name: name, write: { get($0).isEmpty ? nil : list.write($0) }, read: { $0 == nil ? [] : list.read($0) })
  }

  static func list<One: StoredValue>(_ name: String, _ get: @escaping @Sendable (Value) -> [One]) -> Self
  where Part == [One] { list(name, get, of: One.stored) }

  static func list<One>(_ name: String, _ get: @escaping @Sendable (Value) -> [One], of shape: StoredShape<One>) -> Self
  where Part == [One] {
    Self(name: name) {
      .array(get($0).map(shape.write))
    } read: { json in
      guard let elements = json?.array else { return nil }
      let values = elements.compactMap(shape.read)
      return values.count == elements.count ? values : nil
    }
  }
}

extension String: StoredValue {
  package static var stored: StoredShape<String> { StoredShape(write: { .string($0) }, read: { $0.string }) }
}

extension Bool: StoredValue {
  package static var stored: StoredShape<Bool> { StoredShape(write: { .bool($0) }, read: { $0.bool }) }
}

extension Int64: StoredValue {
  package static var stored: StoredShape<Int64> { StoredShape(write: { .integer($0) }, read: { $0.integer }) }
}

extension Int: StoredValue {
  package static var stored: StoredShape<Int> {
    StoredShape(write: { .integer(Int64($0)) }, read: { $0.integer.flatMap { Int(exactly: $0) } })
  }
}

extension Timestamp: StoredValue {
  package static var stored: StoredShape<Timestamp> {
    StoredShape(write: { .integer($0.secondsSince1970) }, read: { $0.integer.map { Timestamp(secondsSince1970: $0) } })
  }
}

extension [UInt8]: StoredValue {
  package static var stored: StoredShape<[UInt8]> {
    StoredShape(write: { .string(Base64.encode($0)) }, read: { $0.string.flatMap(Base64.decode) })
  }
}

/// Writes values into a store's columns.
package enum StoredForm {
  package static func encode(_ value: some StoredValue) -> [UInt8] { value.storedJSON.serialized() }

  package static func decode<Value: StoredValue>(_ type: Value.Type, from bytes: [UInt8]) throws(StoreError) -> Value {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = Value(storedJSON: json) else {
      throw .corrupt("\(type)")
    }
    return value
  }

  /// Decodes JSON, and preserves the order of members. Earlier versions wrote objects as `["o", name, value, …]`, and
  /// arrays as `["a", value, …]`.
  package static func decodeOrdered(_ bytes: [UInt8]) throws(StoreError) -> JSON {
    guard let json = try? JSON(parsing: bytes, values: .max), let value = json.array == nil ? json : plain(json) else {
      throw .corrupt("JSON")
    }
    return value
  }

  /// The stored JSON as unparsed text.
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

/// A report's checks as they are stored: five characters for each code and outcome, and the few details.
///
///     {"run": "pTAG1fTAG2…", "details": {"1": "the detail of the second"}}
///
/// Reports of earlier versions, and reports with unregistered codes, are arrays of whole checks.
extension [ReportRecord.CheckRecord] {
  /// Nil if one of the checks is not registered.
  fileprivate var compact: JSON? {
    var run: [UInt8] = []
    run.reserveCapacity(count * StoredCheck.length)
    var details: [JSON.Member] = []
    var clauses: [JSON.Member] = []
    for (index, record) in enumerated() {
      guard case .known(let check) = record, let tag = StoredCheck.tags[check.code] else { return nil }
      run.append(check.outcome.letter)
      run.append(contentsOf: tag)
      if let detail = check.detail { details.append(JSON.Member(String(index), .string(detail))) }
      if let clause = check.ownClause { clauses.append(JSON.Member(String(index), .string(clause))) }
    }
    return .members([
      "run": .string(String(decoding: run, as: UTF8.self)), "details": details.isEmpty ? nil : .object(details),
      "clauses": clauses.isEmpty ? nil : .object(clauses),
    ])
  }

  fileprivate var writtenOut: JSON { .array(map(\.storedJSON)) }

  fileprivate init?(storedJSON json: JSON) {
    if let records = json.array {
      self = records.compactMap(ReportRecord.CheckRecord.init(storedJSON:))
      guard count == records.count else { return nil }
      return
    }
    guard let text = json["run"]?.string else { return nil }
    let run = Array<UInt8>(text.utf8)
    let details = json["details"]
    guard run.count.isMultiple(of: StoredCheck.length) else { return nil }
    self = []
    reserveCapacity(run.count / StoredCheck.length)
    for start in stride(from: 0, to: run.count, by: StoredCheck.length) {
      guard let outcome = StoredCheck.outcomes.first(where: { $0.letter == run[start] }) else { return nil }
      let tag = Array<UInt8>(run[(start + 1)..<(start + StoredCheck.length)])
      let detail = details?[String(count)]?.string
      if let code = StoredCheck.codes[tag] {
        let clause = json["clauses"]?[String(count)]?.string
        append(.known(Check(code, outcome, detail: detail, clause: clause)))
      } else {
        guard let number = Base64.decodeURLSafe(String(decoding: tag, as: UTF8.self)) else { return nil }
        // A node of a later version stored this value. The session can still be read and redacted.
        append(
          .init(
            code: "unknown." + Hex.encode(number), outcome: outcome.rawValue,
            clause: "a check of a later version", detail: detail))
      }
    }
  }
}

enum StoredCheck {
  /// The length of the outcome's letter and the code's tag.
  static let length = 5

  static let outcomes = Check.Outcome.allCases
  fileprivate static let letters = Array("pfnw".utf8)

  /// The first 24 bits of SHA-256 of each code's name, in base64url. A tag never changes, since a name does not.
  static let tags = CodeTable { code in
    Array(Base64.encodeURLSafe(HashAlgorithm.sha256.hash(Array(code.rawValue.utf8)).prefix(3)).utf8)
  }

  fileprivate static let codes: [[UInt8]: Code] = Dictionary(Code.allCases.map { (tags[$0] ?? [], $0) }) { first, _ in
    first
  }
}

extension Check.Outcome {
  fileprivate var letter: UInt8 { StoredCheck.letters[index] }
}

extension SessionContent: StoredValue {
  package static let stored = StoredShape<SessionContent>(
    {
      SessionContent(
        request: $0, origin: $1, redirectURI: $2, page: $3, intendedUseID: $4, clientReferenceID: $5, metadata: $6)
    },
    .init("request", \.request), .optional("origin", \.origin), .optional("redirectURI", \.redirectURI),
    .optional("page", \.page), .optional("intendedUseID", \.intendedUseID),
    .optional("clientReferenceID", \.clientReferenceID), .list("metadata", \.metadata))
}

extension NamedText: StoredValue {
  package static let stored = StoredShape<Self>(Self.init, .init("name", \.name), .init("value", \.value))
}

extension HostedPageOptions: StoredValue {
  package static let stored = StoredShape<HostedPageOptions>(
    HostedPageOptions.init, .optional("purpose", \.purpose), .anyOf("translations", \.translations),
    .optional("returnURL", \.returnURL))
}

extension PresentationRequest: StoredValue {
  package static let stored = StoredShape<PresentationRequest>(
    { documents, requiresAll, hint in
      var request = PresentationRequest(documents: documents, requiresAllDocuments: requiresAll)
      request.purposeHint = hint.flatMap { PurposeHint(rawValue: $0) }
      return request
    },
    .list("documents", \.documents), .init("requiresAllDocuments", \.requiresAllDocuments),
    .optional("purposeHint", \.hintNumber))

  private var hintNumber: Int64? { purposeHint?.rawValue }
}

extension DocumentRequest: StoredValue {
  package static let stored = StoredShape<DocumentRequest>(
    { docType, elements, ageOver, minimumAge, acceptsExpired, proofs in
      var request = DocumentRequest(docType: docType, elements: elements, ageOver: ageOver, minimumAge: minimumAge)
      request.acceptsExpired = acceptsExpired ?? false
      request.proofs = proofs
      return request
    },
    .init("docType", \.docType), .list("elements", \.elements), .list("ageOver", \.ageOver),
    .optional("minimumAge", \.minimumAge), .optional("acceptsExpired", \.storedAcceptance),
    .optional("proofs", \.proofs))

  private var storedAcceptance: Bool? { acceptsExpired ? true : nil }
}

/// The circuits by their hashes. Circuits that this version does not know are dropped.
extension ProofRequest: StoredValue {
  package static let stored = StoredShape<ProofRequest>(
    { isRequired, hashes in
      ProofRequest(
        isRequired: isRequired, offering: hashes.compactMap { hash in KnownCircuit.all.first { $0.hash == hash } })
    },
    .init("isRequired", \.isRequired), .list("circuits", \.hashes))

  private var hashes: [String] { circuits.map(\.hash) }
}

extension ElementRequest: StoredValue {
  package static let stored = StoredShape<ElementRequest>(
    { element, intentToRetain, days, isRequired, alternatives in
      ElementRequest(
        element, retention: intentToRetain ? days.map { .days($0) } ?? .unspecified : .none, isRequired: isRequired,
        alternatives: alternatives)
    },
    .init("element", \.element), .init("intentToRetain", \.intentToRetain),
    .optional("retainDays", \.retainDays),
    .init("isRequired", \.isRequired), .list("alternatives", \.alternatives))

  private var retainDays: Int? { if case .days(let days) = retention { days } else { nil } }
}

extension ElementReference: StoredValue {
  package static let stored = StoredShape<ElementReference>(
    ElementReference.init, .init("namespace", \.namespace), .init("identifier", \.identifier))
}

extension ReportRecord: StoredValue {
  package static let stored = shape { $0.compact ?? $0.writtenOut }
  /// Codes and texts in full, for readers without this version's registry.
  static let writtenOut = shape(\.writtenOut)

  private static func shape(_ write: @escaping @Sendable ([CheckRecord]) -> JSON) -> StoredShape<ReportRecord> {
    let document = StoredShape<DocumentRecord>(DocumentRecord.init, checks(\.checks, write))
    return StoredShape(
      ReportRecord.init(id:verifiedAt:trustSnapshot:revocationPolicy:checks:documents:),
      .optional("id", \.id), .init("verifiedAt", \.verifiedAt), .init("trustSnapshot", \.trustSnapshot),
      .optional("revocationPolicy", \.revocationPolicy), checks(\.checks, write),
      .list("documents", \.documents, of: document))
  }

  private static func checks<Value>(
    _ get: @escaping @Sendable (Value) -> [CheckRecord], _ write: @escaping @Sendable ([CheckRecord]) -> JSON
  ) -> StoredShape<Value>.Member<[CheckRecord]> {
    .init(name: "checks", write: { write(get($0)) }, read: { $0.flatMap([CheckRecord].init(storedJSON:)) })
  }
}

extension ReportRecord.CheckRecord: StoredValue {
  package static let stored = StoredShape<Self>(
    Self.init(code:outcome:clause:detail:), .init("code", \.code), .init("outcome", \.outcome),
    .init("clause", \.clause), .optional("detail", \.detail))
}

extension LastError: StoredValue {
  package static let stored = StoredShape<LastError>(
    LastError.init(code:reasons:walletDescription:), .init("code", \.code), .list("reasons", \.reasons),
    .optional("walletDescription", \.walletDescription))
}

extension LastError.Reason: StoredValue {
  package static let stored = StoredShape<Self>(
    Self.init, .init("code", \.code), .optional("document", \.document), .init("clause", \.clause),
    .optional("detail", \.detail))
}
