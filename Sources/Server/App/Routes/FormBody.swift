import Base
import HTTP
import Sessions

/// The body of a form that a wallet posts (`application/x-www-form-urlencoded`), read strictly: what is there twice, or
/// is not encoded as a form is, has no single meaning.
enum FormBody {
  static let mediaType = "application/x-www-form-urlencoded"

  /// An object of texts; an empty one for a form without fields.
  static func read(_ body: [UInt8]) throws(ServiceError) -> JSON {
    // Counted before anything is made of them: nobody has said yet who posts this.
    guard body.count(where: { $0 == UInt8(ascii: "&") }) < Limits.formFields else {
      throw ServiceError(.apiInvalidRequest, "The form has more than \(Limits.formFields) fields.")
    }
    for field in body.split(separator: UInt8(ascii: "&"))
    where field.prefix(Limits.formNameBytes + 1).firstIndex(of: UInt8(ascii: "=")) == nil
      && field.count > Limits.formNameBytes
    {
      throw ServiceError(.apiInvalidRequest, "A name in the form has more than \(Limits.formNameBytes) bytes.")
    }
    guard body.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let fields = FormEncoding.members(of: String(decoding: body, as: UTF8.self)[...])
    else { throw ServiceError(.apiMalformedRequest, "The body is no form: percent-encoded UTF-8 without white space.") }
    var names: Set<ExactText> = []
    for field in fields where !names.insert(ExactText(field.name)).inserted {
      throw ServiceError(
        .apiInvalidRequest,
        pointers: [.init(pointer: "/" + JSONPointer.escape(field.name), detail: "is there twice")])
    }
    return .object(fields.map { JSON.Member($0.name, .string($0.value)) })
  }
}
