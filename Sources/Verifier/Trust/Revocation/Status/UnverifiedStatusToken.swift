import Base
import PKIX

/// What a status list or identifier list says of itself, nothing of it verified: to look at, never to decide by. Who may
/// sign it depends on the document that names it, so that `StatusListReader` wants its source.
public struct UnverifiedStatusToken: Sendable {
  public enum Form: String, Sendable { case cwt, jwt }

  public let mechanism: StatusListSource.Mechanism
  public let form: Form
  /// The certificates that came with it, the signer's first.
  public let signerChain: [Certificate]
  /// Its address, by its own word.
  public let subject: String?
  public let issuedAt: Timestamp?
  public let expires: Timestamp?
  /// Seconds.
  public let timeToLive: Int64?
  /// Why the claims can't be read; nil where they can.
  public let fault: String?

  /// Nil for what has not the form and the type of such a token.
  public init?(_ bytes: [UInt8]) {
    let reader = StatusListReader(allowsJWT: true)
    let text = bytes.prefix(bytes.count - bytes.reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count)
    let mechanisms: [StatusListSource.Mechanism] = [.statusList, .identifierList]
    let found = mechanisms.lazy.compactMap { mechanism in
      (try? reader.parse(Array(text), mechanism)).map { (mechanism, $0) }
    }.first
    guard let (mechanism, list) = found else { return nil }
    self.mechanism = mechanism
    form = bytes.first == UInt8(ascii: "e") ? .jwt : .cwt
    signerChain = list.chain.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
    do throws(StatusListError) {
      let claims = try list.unverifiedClaims().registered()
      subject = claims.subject
      issuedAt = claims.issuedAt
      expires = claims.expires
      timeToLive = claims.timeToLive
      fault = nil
    } catch {
      (subject, issuedAt, expires, timeToLive) = (nil, nil, nil, nil)
      fault = error.detail
    }
  }
}
