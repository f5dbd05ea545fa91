import Presentation
import Primitives

extension RequestContext {
  /// Who signs the request, if the relying party has anybody: wallets refuse a signature of an expired reader, without
  /// saying why.
  func currentReader() throws(ServiceError) -> ReaderIdentity? {
    try relyingParty.readers.first.map { reader throws(ServiceError) in
      guard let validity = reader.validity, validity.contains(now) else {
        throw ServiceError(.readerCertificateExpired)
      }
      return reader
    }
  }
}
