import CBOR

/// The four fields that COSE_Sign1 and COSE_Mac0 share, and the bytes that are signed or authenticated.
struct COSEStructure: Sendable {
  let headers: COSEHeaders
  /// Nil where the payload is detached (`nil` in the message).
  let payload: CBORItem?
  let authenticator: ArraySlice<UInt8>

  /// - Parameters:
  ///   - tag: the tag the message must carry, or nil where it must be untagged, as everywhere in an mdoc.
  ///   - readsPastSlips: whether null or undefined may stand for an empty unprotected header, and undefined for a
  ///     detached payload. Neither is signed, and neither can be read in another way.
  init(parsing item: CBORItem, tag: UInt64?, readsPastSlips: Bool) throws(COSEError) {
    var message = item
    if let tag {
      guard let content = item.content(ofTag: tag) else { throw .malformed }
      message = content
    }
    guard let fields = message.elements.map(Array.init), fields.count == 4 else { throw .malformed }
    let hasHeader = !(readsPastSlips && [.null, .undefined].contains(fields[1].kind))
    headers = try COSEHeaders(protected: fields[0], unprotected: hasHeader ? fields[1] : nil)
    let isDetached = fields[2].isNull || (readsPastSlips && fields[2].kind == .undefined)
    guard isDetached || fields[2].kind == .bytes, let authenticator = fields[3].bytes else { throw .malformed }
    payload = isDetached ? nil : fields[2]
    self.authenticator = authenticator
  }

  /// Sig_structure (RFC 9052, 4.4) or MAC_structure (6.3).
  func toBeAuthenticated(context: String, payload: ArraySlice<UInt8>, externalAAD: [UInt8]) -> [UInt8] {
    COSEStructure.toBeAuthenticated(
      context: context, protectedBytes: headers.protectedBytes, payload: payload, externalAAD: externalAAD)
  }

  /// The same for a message that is still to be written.
  static func toBeAuthenticated(
    context: String, protectedBytes: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, externalAAD: [UInt8]
  ) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(payload.count + protectedBytes.count + externalAAD.count + 32)
    CBORHead.appendArray(count: 4, to: &output)
    CBORValue.text(context).append(to: &output)
    CBORHead.appendBytes(count: protectedBytes.count, to: &output)
    output += protectedBytes
    CBORHead.appendBytes(count: externalAAD.count, to: &output)
    output += externalAAD
    CBORHead.appendBytes(count: payload.count, to: &output)
    output += payload
    return output
  }
}
