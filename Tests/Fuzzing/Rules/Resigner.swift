import CBOR
import COSE
import Cryptography

@testable import Mock

/// An issuer and a device that sign the fuzzer's input.
///
/// A changed response fails at its signature, so later checks would never be reached. Digests, issuer signature and
/// device signature or MAC are therefore made again, in place, with the same lengths.
struct Resigner: Sendable {
  let readerKey: PrivateKey
  let signerKey: PrivateKey
  private let deviceKeys: [(docType: String, key: PrivateKey)]

  init(authority: MockAuthority, readerKey: PrivateKey) throws {
    self.readerKey = readerKey
    signerKey = try authority.seed.key("ds", on: .p256)
    deviceKeys = try MockPerson.documents.map {
      ($0.docType, try authority.seed.key("device/\($0.docType)", on: .p256))
    }
  }

  func deviceKey(of docType: String?) -> PrivateKey {
    deviceKeys.first { $0.docType == docType }?.key ?? deviceKeys[0].key
  }

  /// - Parameter find: the DeviceResponse in the parsed bytes.
  func resigned(
    _ bytes: [UInt8], transcript: [UInt8], _ find: (CBORItem) -> CBORItem? = { $0 }
  ) -> [UInt8] {
    var output = bytes
    each(output, find) { repairDigests(of: $0, in: &output) }
    // The issuer signs the digests, so its signed bytes are read again.
    each(output, find) { document in
      signIssuerAuth(of: document, in: &output)
      signDeviceAuth(of: document, transcript, in: &output)
    }
    return output
  }

  private func each(_ bytes: [UInt8], _ find: (CBORItem) -> CBORItem?, _ body: (CBORItem) -> Void) {
    guard let item = try? CBORItem(parsing: bytes), let documents = find(item)?[key: "documents"]?.elements else {
      return
    }
    for document in documents { body(document) }
  }

  private func repairDigests(of document: CBORItem, in output: inout [UInt8]) {
    guard let parts = DocumentParts(document), let digests = parts.mso[key: "valueDigests"] else { return }
    for (namespace, item) in parts.items {
      guard let id = item.embedded?[key: "digestID"]?.unsigned,
        let place = digests[key: namespace]?[unsigned: id]?.bytes,
        let hash = parts.hash
      else { continue }
      replace(place, with: hash.hash(item.encoded), in: &output)
    }
  }

  private func signIssuerAuth(of document: CBORItem, in output: inout [UInt8]) {
    guard let parts = DocumentParts(document), let message = try? COSESign1(parsing: parts.issuerAuth),
      message.headers.algorithmIdentifier == Self.es256
    else { return }
    sign(message, payload: parts.payload, key: signerKey, in: &output)
  }

  private func signDeviceAuth(of document: CBORItem, _ transcript: [UInt8], in output: inout [UInt8]) {
    guard let docType = document[key: "docType"]?.text, let device = document[key: "deviceSigned"],
      let nameSpaces = device[key: "nameSpaces"]
    else { return }
    let payload = CBORValue.embedded([
      "DeviceAuthentication", .encoded(transcript), .text(docType), .encoded(Array(nameSpaces.encoded)),
    ]).encoded()
    let key = deviceKey(of: docType)
    if let item = device[key: "deviceAuth"]?[key: "deviceSignature"], let message = try? COSESign1(parsing: item) {
      sign(message, payload: payload[...], key: key, in: &output)
    }
    if let item = device[key: "deviceAuth"]?[key: "deviceMac"], let message = try? COSEMac0(parsing: item),
      let secret = try? readerKey.sharedSecret(with: key.publicKey),
      let macKey = try? HKDF.deriveKey(
        from: secret, salt: HashAlgorithm.sha256.hash(CBORValue.tagged(24, .bytes(transcript)).encoded()),
        info: Array("EMacKey".utf8), length: 32)
    {
      let tag = HMAC.authenticate(message.toBeAuthenticated(payload: payload[...]), key: macKey, hash: .sha256)
      replace(message.authenticationTag, with: tag, in: &output)
    }
  }

  private static let es256: Int64 = -7

  private func sign(_ message: COSESign1, payload: ArraySlice<UInt8>, key: PrivateKey, in output: inout [UInt8]) {
    guard let signature = try? key.signDeterministically(message.toBeSigned(payload: payload), hash: .sha256) else {
      return
    }
    replace(message.signature, with: signature, in: &output)
  }

  /// Slices of parsed items have the input's own indices, unless they were joined from chunks: those are left alone.
  private func replace(_ part: ArraySlice<UInt8>, with bytes: [UInt8], in output: inout [UInt8]) {
    guard part.count == bytes.count, part.endIndex <= output.count, output[part.indices].elementsEqual(part) else {
      return
    }
    output.replaceSubrange(part.indices, with: bytes)
  }
}
