import Base

/// How a reply is written before it is sealed: a status with a body, or a refusal with its code.
enum KeptReplyForm {
  static func encode(status: Int, body: JSON) -> JSON { ["status": .integer(Int64(status)), "body": body] }

  static func encode(_ error: ServiceError) -> JSON {
    [
      "code": .string(error.code.rawValue), "detail": .string(error.detail),
      "pointers": .array(error.pointers.map { [.string($0.pointer), .string($0.detail)] }),
    ]
  }

  /// The reply, or the refusal thrown once more.
  static func decode(_ form: JSON) throws(ServiceError) -> (status: Int, body: JSON) {
    if let status = form["status"]?.integer, let body = form["body"] { return (Int(status), body) }
    guard let code = form["code"]?.string.flatMap(Code.init(rawValue:)) else {
      throw ServiceError(.apiInternal, "A kept reply cannot be read.")
    }
    throw ServiceError(
      code, form["detail"]?.string,
      pointers: (form["pointers"]?.array ?? []).compactMap { pair in
        guard let pointer = pair.array?.first?.string, let detail = pair.array?.last?.string else { return nil }
        return ServiceError.PointedDetail(pointer: pointer, detail: detail)
      })
  }
}
