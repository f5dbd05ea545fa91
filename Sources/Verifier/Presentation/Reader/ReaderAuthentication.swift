import CBOR
import COSE
import Cryptography
import Mdoc

/// Reader authentication (ISO/IEC 18013-5:2021, 9.1.4): signatures over a request and the transcript of its session.
struct ReaderAuthentication {
  let reader: ReaderIdentity
  let transcript: SessionTranscript

  /// `readerAuth` of one document request.
  ///
  /// - Parameter itemsRequest: ItemsRequestBytes, tag 24 included.
  func signature(over itemsRequest: [UInt8]) throws(CryptoError) -> CBORValue {
    try sign(Self.bytes(over: itemsRequest, transcript))
  }

  /// `readerAuthAll` of the whole request (second edition, 12.5).
  ///
  /// - Parameter info: DeviceRequestInfoBytes, tag 24 included.
  func signature(overAll itemsRequests: [[UInt8]], info: [UInt8]?) throws(CryptoError) -> CBORValue {
    try sign(Self.bytes(overAll: itemsRequests, info: info, transcript))
  }

  private func sign(_ payload: [UInt8]) throws(CryptoError) -> CBORValue {
    try COSESign1.sign(detached: payload, key: reader.key, certificates: reader.certificates.map(\.der))
  }

  /// ReaderAuthenticationBytes: `24(["ReaderAuthentication", SessionTranscript, ItemsRequestBytes])`.
  static func bytes(over itemsRequest: [UInt8], _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded(["ReaderAuthentication", .encoded(transcript.encoded), .encoded(itemsRequest)]).encoded()
  }

  /// ReaderAuthenticationAllBytes: `24(["ReaderAuthenticationAll", SessionTranscript, [ItemsRequestBytes …],
  /// DeviceRequestInfoBytes or null])`.
  static func bytes(overAll itemsRequests: [[UInt8]], info: [UInt8]?, _ transcript: SessionTranscript) -> [UInt8] {
    CBORValue.embedded([
      "ReaderAuthenticationAll", .encoded(transcript.encoded), .array(itemsRequests.map(CBORValue.encoded)),
      info.map(CBORValue.encoded) ?? nil,
    ]).encoded()
  }
}
