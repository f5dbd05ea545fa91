import Base
import Mdoc
import PKIX
import Vectors

/// The certificate chains of isomdl's tests, and the result of each under this project's profile.
struct ChainSet: PublishedSet {
  let name = "isomdl-certs"

  private static let root = "isomdl_iaca_root_cert"

  private struct Example {
    let id: String
    let description: String
    var anchor = ChainSet.root
    var maxPathLength = 0
    let chain: [String]
    var time = "2024-02-01T00:00:00Z"
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "signer", description: "A signer under its root.", chain: ["isomdl_iaca_signer"]),
    // RFC 5280, 4.1.2.2 forbids negative serial numbers, but asks readers to accept them.
    Example(
      id: "negative-serial-number", description: "The signer's serial number is negative.",
      anchor: "owf_multipaz_iaca_p384", chain: ["owf_multipaz_ds_p384"], time: "2026-06-01T00:00:00Z"),
    // Both certificates are CAs that may not sign certificates, so the length is not the only fault.
    Example(
      id: "two-levels", description: "Two authorities below an anchor that allows one level.",
      chain: ["isomdl_iaca_leaf_signer", "isomdl_iaca_intermediate"],
      codes: [.pathLengthExceeded, .certificateIsCA, .certificateKeyUsage]),
    Example(
      id: "two-levels-allowed", description: "Two authorities below an anchor that allows two levels.",
      maxPathLength: 1, chain: ["isomdl_iaca_leaf_signer", "isomdl_iaca_intermediate"],
      codes: [.certificateIsCA, .certificateKeyUsage]),
    Example(
      id: "leaf-alone", description: "The certificate between leaf and anchor is missing.",
      chain: ["isomdl_iaca_leaf_signer"], codes: [.issuerUnknown]),
    Example(
      id: "authority-as-signer", description: "The signer is an authority.", chain: ["isomdl_incorrect_iaca_signer"],
      codes: [.certificateIsCA]),
    Example(
      id: "reader", description: "A reader's certificate in place of a signer's.", chain: ["reader_auth"],
      codes: [.issuerUnknown]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.root + ".pem") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for example in Self.examples {
      var chain: [ArraySlice<UInt8>] = []
      for name in example.chain { chain.append(try Self.certificate(name, in: folder)[...]) }
      guard let root = try? Certificate(der: Self.certificate(example.anchor, in: folder)),
        let time = Timestamp(rfc3339: example.time)
      else { throw SuiteError(path: folder.path, problem: "has an anchor that can't be read") }
      let anchor = TrustAnchor(certificate: root, docTypes: [DocType.mDL], maxPathLength: example.maxPathLength)
      let validator = PathValidator(anchors: [anchor], allowsTestCertificates: true)
      cases.append(
        PublishedCase(
          example.id, example.description, reference: "ISO/IEC 18013-5:2021, 9.3.3", codes: example.codes,
          judge: { [chain] in
            let evaluation = validator.evaluate(chain: chain, docType: DocType.mDL, at: time, skew: 0)
            if evaluation.isTrusted { return .accepted }
            return .refused(evaluation.checks.filter { $0.outcome == .failed }.map(\.code))
          }))
    }
    return cases
  }

  private static func certificate(_ name: String, in folder: SuiteFolder) throws(SuiteError) -> [UInt8] {
    let file = name + ".pem"
    guard let der = PEM.certificates(in: String(decoding: try folder.read(file), as: UTF8.self))?.first else {
      throw SuiteError(path: "\(folder.path)/\(file)", problem: "holds no certificate")
    }
    return der
  }
}
