import Base
import Presentation

extension RequestContext {
  /// Who signs the request, if the relying party has anybody: the first reader that is valid, since wallets refuse a
  /// signature of an expired one, without saying why.
  func currentReader() throws(ServiceError) -> ReaderIdentity? {
    let valid = relyingParty.readers.first { $0.validity?.contains(now) ?? false }
    guard valid != nil || relyingParty.readers.isEmpty else { throw ServiceError(.readerCertificateExpired) }
    return valid
  }
}
