import Base
import Mock
import PKIX

extension CorpusMaker {
  /// The good authority's root without settings: for any document type, and of no test tier.
  static let unscopedAnchor = "iaca-unscoped"
  /// The good root, with settings that allow lists over plain HTTP.
  static let plainHTTPAnchor = "iaca-allow-http"
  /// The good root, with settings that have revocation lists come over HTTPS alone.
  static let httpsAnchor = "iaca-crl-https"
  /// The signer of right documents, trusted by itself.
  static let pinnedSigner = "document-signer"

  /// The files of the folder of anchors, with settings where they are needed.
  func anchorFiles() throws -> [(path: String, content: [UInt8])] {
    let good = try authority.anchor(at: now)
    let signer = MockAnchor(
      name: Self.pinnedSigner, certificate: try authority.documentSigner(at: now), docTypes: good.docTypes,
      extendedKeyUsages: good.extendedKeyUsages, maxPathLength: 0)
    return anchors.flatMap { [pem($0.name, $0.certificate), json($0.name, settings($0))] } + [
      pem(Self.unscopedAnchor, good.certificate),
      pem(Self.plainHTTPAnchor, good.certificate),
      json(Self.plainHTTPAnchor, settings(good, .init("allow_http", true))),
      pem(Self.httpsAnchor, good.certificate),
      json(Self.httpsAnchor, settings(good, .init("crl_addresses", "https"))),
      pem(signer.name, signer.certificate),
      json(signer.name, settings(signer, .init("kind", "document_signer"))),
      pem(VectorList.Format.vical.signer, try MockVICAL.signerAnchor(of: authority, at: now)),
      pem(VectorList.Format.trustedEntities.signer, try MockTrustedEntityList.signerRoot(of: authority, at: now)),
    ]
  }

  private func settings(_ anchor: MockAnchor, _ more: JSON.Member...) -> JSON {
    .object(
      [
        .init("doc_types", .strings(anchor.docTypes)), .init("ekus", .strings(anchor.extendedKeyUsages)),
        .init("max_path_length", .integer(Int64(anchor.maxPathLength))), .init("tier", "test"),
      ] + more)
  }

  private func pem(_ name: String, _ certificate: [UInt8]) -> (path: String, content: [UInt8]) {
    ("\(SuiteFolder.anchors)/\(name).pem", Array(PEM.encode(certificate: certificate).utf8))
  }

  private func json(_ name: String, _ settings: JSON) -> (path: String, content: [UInt8]) {
    ("\(SuiteFolder.anchors)/\(name).json", settings.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }
}
