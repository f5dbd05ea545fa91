import Cryptography

/// A wallet's answer, and what it was made for.
package struct MockAnswer: Sendable {
  /// What goes over the wire: the Apple envelope, or the DeviceResponse.
  package let bytes: [UInt8]
  package let deviceResponse: [UInt8]
  /// The transcript of the session that was answered: the one that the verifier is to build, also where the variant
  /// made the wallet use another.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// How the device proves that it holds the device key.
package enum MockDeviceAuthentication: Sendable {
  case signature
  /// A MAC keyed by ECDH with the reader's ephemeral key, on the device key's curve.
  case mac(readerKey: PublicKey)
}
