/// A document as a wallet has it, in the bytes that issuer and device signed.
package struct ProvableDocument: Sendable {
  /// How the device authenticated (ISO/IEC 18013-5, 9.1.3).
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

/// What a proof shall show of a document.
package struct ProverRequest: Sendable {
  /// Identifiers and the CBOR of their values, in the response's order.
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
