/// A wallet's document, as the bytes that the issuer and the device signed.
package struct ProvableDocument: Sendable {
  /// The device's authentication (ISO/IEC 18013-5, 9.1.3).
  package enum DeviceAuthentication: Sendable {
    /// r and s, 32 bytes each, over empty DeviceNameSpaces.
    case signature([UInt8])
    case mac
  }

  package let documentType: String
  /// The COSE_Sign1 of the MSO.
  package let issuerAuth: [UInt8]
  /// IssuerSignedItemBytes, tag included.
  package let items: [[UInt8]]
  package let device: DeviceAuthentication

  package init(documentType: String, issuerAuth: [UInt8], items: [[UInt8]], device: DeviceAuthentication) {
    self.documentType = documentType
    self.issuerAuth = issuerAuth
    self.items = items
    self.device = device
  }
}

/// The statement that a proof shows.
package struct ProverRequest: Sendable {
  /// Element identifiers and the CBOR encodings of their values, in the response's order.
  package let elements: [(identifier: String, value: [UInt8])]
  /// The SessionTranscript's bytes as in DeviceAuthentication.
  package let transcript: [UInt8]
  /// `YYYY-MM-DDThh:mm:ssZ`.
  package let timestamp: String

  package init(elements: [(identifier: String, value: [UInt8])], transcript: [UInt8], timestamp: String) {
    self.elements = elements
    self.transcript = transcript
    self.timestamp = timestamp
  }
}

/// The reason why a document cannot be proven.
package enum ProverError: Error, Equatable {
  // The request.
  case elementCount, identifierRepeated
  /// The text is not `YYYY-MM-DDThh:mm:ssZ`.
  case timestampMalformed
  /// The doc type is empty or longer than 255 bytes.
  case documentTypeLength
  /// The identifier is empty, or too long for the circuit's version.
  case identifierLength
  /// The value is longer than 64 bytes of CBOR, or too long for version 6 together with its identifier.
  case valueTooLong
  /// The value is an array, a map, or another type that circuits do not compare.
  case valueNotSimple

  // The issuer's signature.
  /// issuerAuth is not a COSE_Sign1 that contains an MSO.
  case issuerAuthMalformed
  /// The protected header is not `a1 01 26`. These bytes encode ES256 and nothing else.
  case issuerAlgorithm
  /// The signer's certificate has no P-256 key in uncompressed form.
  case issuerKey
  case issuerSignature

  // The MSO. The payload does not start with `d8 18 59` and a length of two bytes.
  case securityObjectTooShort
  /// The signed structure needs more hash blocks than the circuit has.
  case securityObjectTooLong
  /// The digests are not SHA-256.
  case digestAlgorithm
  /// A validity date is not tag 0 with a text of 20 characters that ends with Z.
  case validityFormat
  case outsideValidity
  /// deviceKeyInfo contains more than a P-256 key, or the key's labels are not in the order 1, −1, −2, −3.
  case deviceKeyFormat

  // The elements.
  case elementMissing, elementValueDiffers, digestMissing
  /// The item does not start with `d8 18 58`, or is not a map of four entries.
  case itemFormat
  /// The item does not fill exactly two hash blocks.
  case itemLength
  /// In version 6, elementValue must follow elementIdentifier.
  case itemOrder

  // The device.
  case deviceMAC
  /// The signature is not the device's signature over empty DeviceNameSpaces.
  case deviceSignature

  /// The circuit cannot process the value of a hash or a coordinate. Another device signature may help.
  case unluckyNumber
  /// The circuit is not satisfied, although all checks passed.
  case circuitNotSatisfied
  case noRandomness
}
