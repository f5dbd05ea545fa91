import COpenSSL

/// A library context of OpenSSL's that has no algorithms, for parsing. In it a certificate's key is not decoded while the
/// certificate is parsed, which costs ten times as much as all the rest and takes locks; the key is imported in our own
/// way instead (`SubjectPublicKey`), and signatures are checked with that (`CertificateSignature`).
enum ParsingContext {
  // Written once, never freed; OpenSSL's library contexts may be used from any thread.
  nonisolated(unsafe) static let library: OpaquePointer? = {  // proof above
    let library = OSSL_LIB_CTX_new()
    // Without any provider loaded the default one would be loaded at the first use.
    return OSSL_PROVIDER_load(library, "null") == nil ? nil : library
  }()
}
