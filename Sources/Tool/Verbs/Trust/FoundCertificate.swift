import PKIX

/// A certificate in one of the given files, readable or not.
struct FoundCertificate: Sendable {
  /// The file, and the certificate's place in it.
  let source: String
  let content: Result<Certificate, CertificateError>

  /// Nil where it is malformed.
  var certificate: Certificate? { try? content.get() }

  /// Why there is none.
  var fault: String { if case .failure(let error) = content { error.detail } else { "" } }

  /// All of a file, in their order.
  static func inFile(_ path: String) throws(Failure) -> [FoundCertificate] {
    let bytes = try FileAccess.read(path, purpose: "certificate")
    // 0x30 begins every DER certificate, and the text "0 s:CN=…" that some tools print above PEM blocks.
    let text = String(decoding: bytes, as: UTF8.self)
    let isDER = bytes.starts(with: [0x30]) && !text.contains("-----BEGIN CERTIFICATE-----")
    let encodings = isDER ? [bytes] : PEM.certificates(in: text) ?? []
    guard !encodings.isEmpty else { throw .unreadable("certificate \(path): holds no certificate in PEM or DER") }
    return encodings.enumerated().map { index, der in
      FoundCertificate(
        source: encodings.count == 1 ? path : "\(path), certificate \(index + 1)",
        content: Result { () throws(CertificateError) in try Certificate(der: der) })
    }
  }
}

extension DistinguishedName {
  /// For people; what comes from the certificate may hold anything, so it is printed with `Printable`.
  var text: String {
    let parts = [
      commonName.map { "CN=\($0)" }, organization.map { "O=\($0)" }, stateOrProvince.map { "ST=\($0)" },
      country.map { "C=\($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "(no name)" : parts.joined(separator: ", ")
  }
}
