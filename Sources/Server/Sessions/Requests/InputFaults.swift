import Base

/// Everything that is wrong with one input, collected so that a caller can mend it in one go.
struct InputFaults {
  private var faults: [(code: Code, pointed: ServiceError.PointedDetail)] = []

  var isEmpty: Bool { faults.isEmpty }

  /// The first ones are kept: an input of many faults does not get a reply that is larger than itself.
  mutating func add(_ pointer: String, _ detail: String, code: Code = .apiInvalidRequest) {
    guard faults.count < Limits.reportedFaults else { return }
    faults.append((code, ServiceError.PointedDetail(pointer: pointer, detail: detail)))
  }

  /// The refusal, under the code of the first fault.
  func throwIfAny() throws(ServiceError) {
    guard let first = faults.first else { return }
    throw ServiceError(first.code, pointers: faults.map(\.pointed))
  }
}

/// One object of an input: its members by name, unknown ones noted as faults.
struct ObjectInput {
  let pointer: String
  private let object: JSON

  /// Nil, with a fault, where the value is no object.
  init?(_ json: JSON, at pointer: String, known: Set<String>, _ faults: inout InputFaults) {
    guard let members = json.object else {
      faults.add(pointer, "must be an object; its members may be \(known.sorted().joined(separator: ", "))")
      return nil
    }
    self.pointer = pointer
    object = json
    for member in members where !known.contains(where: member.name.hasSameBytes) {
      faults.add(self.pointer(to: member.name), "is not known here", code: .apiUnknownMember)
    }
  }

  func pointer(to name: String) -> String { pointer + "/" + JSONPointer.escape(name) }

  /// The member, with absent and null alike.
  func value(_ name: String) -> JSON? {
    object[name].flatMap { $0.isNull ? nil : $0 }
  }

  /// Characters are Unicode scalars, as in JSON Schema: one that a reader sees can be of any length.
  func string(
    _ name: String, characters: ClosedRange<Int> = 1...255, required: Bool, _ faults: inout InputFaults
  ) -> String? {
    guard let value = value(name) else {
      if required { faults.add(pointer(to: name), "is required") }
      return nil
    }
    guard let text = value.string, characters.contains(text.unicodeScalars.count) else {
      faults.add(
        pointer(to: name), "must be a string of \(characters.lowerBound) to \(characters.upperBound) characters")
      return nil
    }
    return text
  }

  func bool(_ name: String, default fallback: Bool, _ faults: inout InputFaults) -> Bool {
    guard let value = value(name) else { return fallback }
    guard let bool = value.bool else {
      faults.add(pointer(to: name), "must be true or false")
      return fallback
    }
    return bool
  }

  func integer(_ name: String, in range: ClosedRange<Int64>, _ faults: inout InputFaults) -> Int64? {
    guard let value = value(name) else { return nil }
    guard let number = value.integer, range.contains(number) else {
      faults.add(pointer(to: name), "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return number
  }

  func array(_ name: String, count: ClosedRange<Int>, required: Bool, _ faults: inout InputFaults) -> [JSON] {
    guard let value = value(name) else {
      if required { faults.add(pointer(to: name), "is required") }
      return []
    }
    guard let elements = value.array, count.contains(elements.count) else {
      faults.add(pointer(to: name), "must be an array of \(count.lowerBound) to \(count.upperBound) elements")
      return []
    }
    return elements
  }
}

extension JSONPointer {
  static func shortened(_ text: String) -> String {
    let most = Limits.pointerCharacters
    // Counting bytes is cheap, and there are no more characters than these.
    guard text.utf8.count > most,
      let end = text.unicodeScalars.index(
        text.startIndex, offsetBy: most, limitedBy: text.endIndex), end < text.endIndex
    else { return text }
    return String(text.unicodeScalars[..<end]) + "…"
  }
}
