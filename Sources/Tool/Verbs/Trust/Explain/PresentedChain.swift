import Base
import CBOR
import COSE
import PKIX

/// A document signer's chain as it was presented, with nothing about it verified.
struct PresentedChain: Sendable {
  /// Where it was found, for people.
  let source: String
  /// Nil where only certificates are given.
  let docType: String?
  /// DER, the signer's first.
  let certificates: [ArraySlice<UInt8>]

  /// Those of every document of a DeviceResponse.
  static func inResponse(_ path: String) throws(Failure) -> [PresentedChain] {
    let bytes = try WireBytes.answer(at: path)
    guard let response = try? CBORItem(parsing: bytes), let documents = response[key: "documents"]?.elements else {
      throw .unreadable("response \(path): is no DeviceResponse with documents")
    }
    let chains = documents.enumerated().map { index, document in
      PresentedChain(
        source: "document \(index + 1)", docType: document[key: "docType"]?.text,
        certificates: signerChain(document))
    }
    guard !chains.isEmpty else { throw .unreadable("response \(path): holds no document") }
    return chains
  }

  /// The certificates of a file, the document signer's first.
  static func inFile(_ path: String) throws(Failure) -> PresentedChain {
    var certificates: [ArraySlice<UInt8>] = []
    for found in try FoundCertificate.inFile(path) {
      guard let certificate = found.certificate else {
        throw .unreadable("certificate \(found.source): \(found.fault)")
      }
      certificates.append(certificate.der[...])
    }
    return PresentedChain(source: path, docType: nil, certificates: certificates)
  }

  private static func signerChain(_ document: CBORItem) -> [ArraySlice<UInt8>] {
    guard let item = document[key: "issuerSigned"]?[key: "issuerAuth"] else { return [] }
    let message = (try? COSESign1(parsing: item)) ?? (try? COSESign1(parsing: item, tag: COSESign1.tag))
    return message?.headers.x5chain ?? []
  }
}
