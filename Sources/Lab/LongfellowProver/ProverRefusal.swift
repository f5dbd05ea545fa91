/// Why a document cannot be proven with a circuit, or not at all.
package enum ProverRefusal: Error, Equatable {
  // The request.
  /// The circuit is for another number of elements.
  case elementCount
  /// The text isn't `YYYY-MM-DDThh:mm:ssZ`.
  case timestampMalformed
  /// The doc type is empty or longer than 255 bytes.
  case documentTypeLength
  /// The identifier is empty or longer than the circuit's version can hold.
  case identifierLength
  /// The same identifier is to be shown twice.
  case identifierRepeated
  /// The value is longer than 64 bytes of CBOR, or with its identifier longer than version 6 can hold.
  case valueTooLong
  /// The value is an array, a map or another that circuits do not compare.
  case valueNotSimple

  // The issuer's signature.
  /// issuerAuth isn't a COSE_Sign1 with an MSO in it.
  case issuerAuthMalformed
  /// The protected header is another than `a1 01 26`: ES256 alone.
  case issuerAlgorithm
  /// The signer's certificate has no P-256 key in uncompressed form.
  case issuerKey
  /// The signature isn't the issuer's.
  case issuerSignature

  // The MSO.
  /// The payload isn't `d8 18 59` with two bytes of length.
  case securityObjectTooShort
  /// The signed structure has more hash blocks than the circuit.
  case securityObjectTooLong
  /// The digests are not SHA-256.
  case digestAlgorithm
  /// A validity date isn't tag 0 over 20 characters with Z.
  case validityFormat
  /// The timestamp is before validFrom or after validUntil.
  case outsideValidity
  /// deviceKeyInfo has more than a P-256 key in the order 1, −1, −2, −3.
  case deviceKeyFormat

  // The elements.
  /// No item has this identifier.
  case elementMissing
  /// The item has another value than the one to be shown.
  case elementValueDiffers
  /// The MSO has no digest of the item.
  case digestMissing
  /// The item isn't `d8 18 58` with a map of four.
  case itemFormat
  /// The item doesn't fill exactly two hash blocks.
  case itemLength
  /// In version 6, elementValue must follow elementIdentifier.
  case itemOrder

  // The device.
  /// The device authenticated by a MAC.
  case deviceMAC
  /// The signature isn't the device's over empty name spaces.
  case deviceSignature

  /// A hash or coordinate that the circuit cannot take; another device signature may help.
  case unluckyNumber
  /// The circuit isn't satisfied in spite of all checks.
  case circuitNotSatisfied
  /// The operating system gave no random bytes.
  case noRandomness
}
