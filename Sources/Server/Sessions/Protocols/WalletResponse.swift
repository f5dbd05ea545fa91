import Base
import Mdoc
import Presentation

/// The parameters of an OpenID4VP authorization response as a wallet hands them over, read before the challenge is
/// consumed: whatever could be an answer or an error, and nothing that could be two.
enum WalletResponse {
  private static let answers = ["response", "vp_token"]
  /// What is read of an answer, by any version of the protocol.
  private static let known = answers + ["state", "presentation_submission"]

  /// `{"response": JWE}`, `{"vp_token": …}` or `{"error": …}`; what else a wallet sends is ignored
  /// (RFC 6749, 4.1.2), and goes no further.
  ///
  /// - Parameter isForm: whether it came as a form, which has only text.
  static func decode(_ data: JSON, isForm: Bool) throws(ServiceError) -> WalletAnswer {
    guard let members = data.object else { throw fault("/data", "must be an object") }
    let present = (answers + ["error"]).filter { data[$0] != nil }
    guard present.count == 1 else {
      throw fault("/data", "must have one of `response`, `vp_token` and `error`")
    }
    let texts = isForm ? answers + ["error", "state"] : ["response", "error"]
    for name in texts {
      guard let value = data[name], value.string == nil else { continue }
      throw fault("/data/\(name)", "must be a string")
    }
    if let error = data["error"]?.string { return .refusal(Code(walletError: error)) }
    return .answer(.parameters(.object(members.filter { Self.known.contains($0.name) })))
  }

  private static func fault(_ pointer: String, _ detail: String) -> ServiceError {
    ServiceError(.apiInvalidRequest, pointers: [.init(pointer: pointer, detail: detail)])
  }
}

extension RelyingParty {
  /// What its wallets may have taken it for by mistake.
  var names: RelyingPartyNames { RelyingPartyNames(origins: origins, clientIDs: readers.map(\.clientID)) }
}
