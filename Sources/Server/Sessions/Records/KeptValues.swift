import Base

/// What is kept of a verified session's values beyond its reply, and until when: a value is erased on its day, and the
/// session's record stays until the last of them is.
package struct KeptValues: Sendable, Hashable {
  /// The values of one day, sealed.
  package struct Part: Sendable, Hashable {
    package let eraseAt: Timestamp
    package let sealed: [UInt8]

    package init(eraseAt: Timestamp, sealed: [UInt8]) {
      self.eraseAt = eraseAt
      self.sealed = sealed
    }
  }

  /// Without elements requested with `intent_to_retain: false`.
  package private(set) var parts: [Part]
  /// When the bundle of evidence is erased, which holds all values alike; nil for as long as the record.
  package private(set) var evidenceUntil: Timestamp?

  package init(parts: [Part] = [], evidenceUntil: Timestamp? = nil) {
    self.parts = parts
    self.evidenceUntil = evidenceUntil
  }

  /// When something must be erased next; nil where there is nothing, and the record may go.
  package var nextErasure: Timestamp? { (parts.map(\.eraseAt) + [evidenceUntil].compactMap { $0 }).min() }

  /// What an erasure took.
  package struct Erasure: Sendable {
    package let isAny: Bool
    package let includesEvidence: Bool
  }

  @discardableResult
  package mutating func erase(dueAt now: Timestamp) -> Erasure {
    let count = parts.count
    parts.removeAll { $0.eraseAt <= now }
    let includesEvidence = evidenceUntil.map { $0 <= now } ?? false
    if includesEvidence { evidenceUntil = nil }
    return Erasure(isAny: count > parts.count || includesEvidence, includesEvidence: includesEvidence)
  }
}

extension KeptValues {
  /// As a store's column holds it; nil where there is nothing.
  package var stored: [UInt8]? {
    guard nextErasure != nil else { return nil }
    return JSON.members([
      "parts": .array(
        parts.map { ["eraseAt": .integer($0.eraseAt.secondsSince1970), "sealed": .string(Base64.encode($0.sealed))] }),
      "evidenceUntil": evidenceUntil.map { .integer($0.secondsSince1970) },
    ]).serialized()
  }

  /// - Parameter end: when to erase a value that an earlier version wrote: the end of the session's record, or now in a
  ///   sweep. Such a value is one sealed result. Its first byte is a version number, so it is not taken for JSON.
  package init(stored bytes: [UInt8]?, end: Timestamp) throws(StoreError) {
    guard let bytes else {
      self.init()
      return
    }
    guard bytes.first == UInt8(ascii: "{") else {
      self.init(parts: [Part(eraseAt: end, sealed: bytes)])
      return
    }
    var parts: [Part] = []
    let json = try? JSON(parsing: bytes)
    guard let list = json?["parts"]?.array else { throw .corrupt("kept values") }
    for part in list {
      guard let time = part["eraseAt"]?.integer, let sealed = part["sealed"]?.string.flatMap(Base64.decode) else {
        throw .corrupt("kept values")
      }
      parts.append(Part(eraseAt: Timestamp(secondsSince1970: time), sealed: sealed))
    }
    self.init(
      parts: parts, evidenceUntil: json?["evidenceUntil"]?.integer.map { Timestamp(secondsSince1970: $0) })
  }

  /// What a sweep leaves of a column at `now`. What cannot be read is erased whole: it could never be read again.
  package static func left(of bytes: [UInt8]?, at now: Timestamp) -> (kept: KeptValues, erasesEvidence: Bool) {
    guard var kept = try? KeptValues(stored: bytes, end: now) else { return (KeptValues(), true) }
    let erasure = kept.erase(dueAt: now)
    return (kept, erasure.includesEvidence)
  }
}
