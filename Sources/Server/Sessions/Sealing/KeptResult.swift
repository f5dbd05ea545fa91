import Base
import Cryptography

/// How a result is written before it is sealed: by itself; or, where the wallet was given a response code, with the
/// code's hash, so that it cannot be read without it.
enum KeptResult {
  private static let hashMember = "response_code_sha256"

  static func encode(_ result: JSON, for code: ResponseCode?) -> JSON {
    guard let code else { return result }
    return [hashMember: .string(Hex.encode(code.sha256)), "result": result]
  }

  /// The result, or `session.response_code_mismatch` where another code was presented than the wallet was given: one
  /// too many and one too few are other ones as well.
  static func decode(_ form: JSON, presenting code: String?) throws(ServiceError) -> JSON {
    guard let expected = form[hashMember]?.string.flatMap(Hex.decode), let result = form["result"] else {
      guard code == nil else { throw ServiceError(.responseCodeMismatch) }
      return form
    }
    guard let code, constantTimeEqual(ResponseCode.sha256(of: code), expected) else {
      throw ServiceError(.responseCodeMismatch)
    }
    return result
  }
}
