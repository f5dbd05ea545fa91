import Base
import COSE
import Cryptography

/// What a document's signatures are made over, by size and hash: to compare with what another implementation prints.
/// Nothing is verified by them, and nothing can be read out of them.
public struct SignatureInputs: Sendable, Hashable {
  /// An encoded Sig_structure (RFC 9052, 4.4).
  public struct Input: Sendable, Hashable {
    public let count: Int
    public let sha256: [UInt8]

    fileprivate init(_ bytes: [UInt8]) {
      count = bytes.count
      sha256 = HashAlgorithm.sha256.hash(bytes)
    }
  }

  /// IssuerAuth's; nil where it can't be read.
  public let issuer: Input?
  /// The device signature's; nil where there is none.
  public let device: Input?

  init(of document: Document, over transcript: SessionTranscript) {
    let issuerAuth = document.issuerAuth.flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }
    issuer = issuerAuth.flatMap { message in
      (message.payload?.bytes).map { Input(message.toBeSigned(payload: $0)) }
    }
    let signature = (document.deviceSigned?.deviceSignature).flatMap {
      try? COSESign1(parsing: $0, readsPastSlips: true)
    }
    device = signature.map {
      Input($0.toBeSigned(payload: DeviceAuthentication.bytes(of: document, over: transcript)[...]))
    }
  }
}

extension DeviceResponse {
  /// Of each document, in their order.
  public func signatureInputs(over transcript: SessionTranscript) -> [SignatureInputs] {
    documents.map { SignatureInputs(of: $0, over: transcript) }
  }
}
