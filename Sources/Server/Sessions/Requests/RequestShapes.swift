import Base

extension Shape {
  /// Reads a body that has no rules but those of its form.
  ///
  /// - Throws: the refusal that names every fault.
  package func value(of json: JSON, at pointer: String = "") throws(ServiceError) -> Value {
    var faults = Faults()
    guard let value = read(json, pointer, &faults), faults.isEmpty else { throw faults.refusal }
    return value
  }
}

extension Faults {
  /// The refusal that names every fault, under the code of the first.
  var refusal: ServiceError {
    ServiceError(
      all.first?.code ?? .apiInvalidRequest, pointers: all.map { .init(pointer: $0.pointer, detail: $0.detail) })
  }
}

extension ServiceError {
  /// The error for one member, named by its JSON Pointer.
  package static func invalidMember(
    _ pointer: String, _ detail: String, code: Code = .apiInvalidRequest
  ) -> ServiceError {
    ServiceError(code, pointers: [.init(pointer: pointer, detail: detail)])
  }
}

extension Shape where Value == [UInt8] {
  /// Base64url in its only canonical form: no padding, no stray bits.
  package static var base64URL: Shape {
    bytes(base64URLText, "must be base64url, without padding or white space", Base64.decodeURLSafe)
  }

  /// The same of at least one byte.
  static var someBase64URL: Shape {
    let form = base64URL
    return Shape(form.schema.with("minLength", 2)) { json, pointer, faults in
      form.read(json == "" ? .null : json, pointer, &faults)
    } write: {
      form.write($0)
    }
  }

  /// Base64 or base64url.
  static var anyBase64: Shape {
    bytes(
      "(\(base64Text)|\(base64URLText))", "must be base64 or base64url, without white space", Base64.decodeEither)
  }

  private static var base64URLText: String {
    "([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"
  }

  private static var base64Text: String {
    "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
  }

  private static func bytes(
    _ pattern: String, _ fault: String, _ decode: @escaping @Sendable (String) -> [UInt8]?
  ) -> Shape {
    Shape(.text(like: "^\(pattern)$")) { json, pointer, faults in
      if let bytes = json.string.flatMap(decode) { return bytes }
      faults.add(pointer, fault)
      return nil
    } write: {
      .string(Base64.encodeURLSafe($0))
    }
  }
}

extension Shape where Value == Int {
  static func whole(_ range: ClosedRange<Int>) -> Shape {
    Shape<Int64>.integer(Int64(range.lowerBound)...Int64(range.upperBound)).map {
      Int($0)
    } back: {
      Int64($0)
    }
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
