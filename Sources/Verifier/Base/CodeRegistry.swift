extension Code {
  /// The registry's line for this code.
  public var entry: CodeEntry {
    switch self {
    // CBOR
    case .cborTruncated:
      row("The CBOR ends in the middle of an item", "RFC 8949, 3", Remedy.cbor)
    case .cborTrailingBytes:
      row("Bytes follow the one complete CBOR item", "RFC 8949, 5.1", Remedy.cbor)
    case .cborDuplicateKey:
      row("A CBOR map has the same key twice", "RFC 8949, 5.6", Remedy.cbor)
    case .cborInvalidUTF8:
      row(
        "A CBOR text string is not UTF-8, or has more than 30 combining marks in a row", "RFC 8949, 3.1; UAX #15, 13",
        Remedy.cbor)
    case .cborMalformed:
      row("The bytes are not well-formed CBOR", "RFC 8949, 3 and appendix C", Remedy.cbor)
    case .cborNestingTooDeep:
      row("The CBOR is nested more deeply than any mdoc is", "RFC 8949, 10", Remedy.cbor)
    case .cborLengthExceedsInput:
      row("A CBOR head claims more than any input may hold", "RFC 8949, 10", Remedy.cbor)
    case .cborTooManyItems:
      row("The CBOR has more items than any mdoc has", "RFC 8949, 10", Remedy.cbor)
    case .cborInputTooLarge:
      row("The answer is larger than the limit", "RFC 8949, 10", Remedy.wallet)
    case .cborTagUnsupported:
      row("A CBOR tag stands where the structure needs a plain item, and is not expanded", "RFC 8949, 3.4", Remedy.cbor)
    case .cborSimpleValueUnassigned:
      row("The CBOR has a simple value without a meaning", "RFC 8949, 3.3 and 5.3", Remedy.cbor)
    // Envelope
    case .envelopeMalformed:
      row(
        "The encrypted envelope does not have the prescribed members, types or sizes",
        "Apple, Verifying Wallet identity requests: HPKEEnvelope; ISO/IEC TS 18013-7, Annex C", Remedy.wallet)
    case .envelopeAlgorithmUnsupported:
      row(
        "The envelope names another algorithm than APPLE-HPKE-v1",
        "Apple, Verifying Wallet identity requests: HPKEEnvelope", Remedy.wallet)
    case .envelopeModeUnsupported:
      row("The envelope names another HPKE mode than base", "RFC 9180, 5.1.1", Remedy.wallet)
    case .envelopeEncapsulatedKeyInvalid:
      row("The encapsulated key is not an uncompressed point on P-256", "RFC 9180, 7.1.4", Remedy.wallet)
    case .envelopeRecipientKeyUnknown:
      row(
        "The answer is encrypted to a key that this relying party does not have",
        "Apple, Verifying Wallet identity requests: pkRHash",
        "Check that the merchant's encryption certificate in use belongs to a configured private key.")
    case .envelopeTranscriptMismatch:
      row(
        "The answer belongs to another nonce, merchant, team or key",
        "Apple, Verifying Wallet identity requests: infoHash",
        "Check that nonce, merchant and team identifier are those that the app sent; else treat it as a replay.")
    case .envelopeDecryptionFailed:
      row("The ciphertext does not open under this session's keys and transcript", "RFC 9180, 5.2", Remedy.forged)
    case .envelopePlaintextMalformed:
      row(
        "The decrypted content is no map with the one member `identity` (in-app), or no JSON object (in a JWE)",
        "Apple, Verifying Wallet identity requests: Topics", Remedy.wallet)
    case .envelopeNotEncrypted:
      row(
        "The answer came in clear where an encrypted one was asked for", "\(openID), 8.3",
        "Treat the answer as forged or as a wallet's fault; ask again with a new session.")
    case .jweHeaderInvalid:
      row(
        "The JWE's header names a parameter wrongly, or one that is critical and not known here", "RFC 7516, 4.1",
        Remedy.wallet)
    case .jweAlgorithmUnsupported:
      row("The JWE is not encrypted by ECDH-ES with A128GCM or A256GCM", "\(openID), 8.3; RFC 7518, 4.6", Remedy.wallet)
    case .jweCompressionNotAllowed:
      row("The JWE's plaintext is compressed by another algorithm than DEF", "RFC 7516, 4.1.3", Remedy.wallet)
    case .jweKeyUnknown:
      row("The JWE is encrypted to another key than this session's", "RFC 7516, 4.1.6", Remedy.forged)
    case .jweEphemeralKeyInvalid:
      row(
        "The JWE's ephemeral key is missing, for another use, on another curve, or not a point on its curve",
        "RFC 7518, 4.6.1.1; RFC 7517, 4.2 to 4.4", Remedy.wallet)
    case .jwePlaintextTooLarge:
      row("The JWE's plaintext inflates to more than the limit", "RFC 8725, 3.6; RFC 7516, 4.1.3", Remedy.wallet)
    case .responseModeMismatch:
      row(
        "The response is a JWT where its parameters were asked for in the clear", "\(openID), 8.2",
        "Report it to the wallet's maker, or ask for an encrypted response (`direct_post.jwt`, `dc_api.jwt`).")
    case .stateMismatch:
      row(
        "The answer does not carry the state of this session's request", "RFC 6749, 4.1.1; \(openID), 8.2",
        Remedy.forged)
    case .stateMissing:
      row("The response lacks the request's state", "RFC 6749, 4.1.2; \(openID), 8.2", Remedy.wallet, warns: true)
    case .vpTokenMalformed:
      row(
        "`vp_token` is not an object of arrays of base64url answers to the queries that were made", "\(openID), 8.1",
        Remedy.wallet)
    case .vpTokenIncomplete:
      row("`vp_token` has no answer to a query that needs one", "\(openID), 8.1", Remedy.wallet)
    case .sessionDataMalformed:
      row(
        "The bytes are not a SessionData with `data` or `status`", "\(iso), 9.1.1.4",
        "Hand in the message as the reader received it.")
    case .sessionTerminated:
      row(
        "The device ended the session or could not read its messages", "\(iso), 9.1.1.4, Table 20",
        "Begin again with a new engagement.")
    case .readerKeyMismatch:
      row(
        "The reader's private key is not that of the session's EReaderKey", "\(iso), 9.1.1.4",
        "Hand in the key with which this very engagement was answered.")
    case .appleSimulatorAnswer:
      row(
        "The answer comes from Apple's simulator and proves nothing", "Apple, sample archive README",
        "Test on a device with a real document. `mdoc serve --test-mode` shows what the simulator answered, never as verified."
      )
    case .appleProfileAnswer:
      row(
        "The answer comes from a device with Apple's developer profile and has no issuer",
        "Apple, sample archive README",
        "Remove the developer profile from the device. `mdoc serve --test-mode` with `--apple-key` shows what it answered."
      )
    // DeviceResponse
    case .responseMalformed:
      row(
        "The DeviceResponse lacks a member or has one of another type", "\(iso), 8.3.2.1.2.2",
        "Compare the detail with the bytes that came: a whole DeviceResponse is expected. Report it to whoever made it, "
          + "as a rule the wallet's maker.")
    case .responseVersionUnsupported:
      row("The DeviceResponse has another major version than 1", "\(iso), 8.3.2.1.2.2", Remedy.wallet)
    case .responseStatusNotOK:
      row("The wallet reports an error status", "\(iso), 8.3.2.1.2.3", Remedy.wallet)
    case .documentErrorsPresent:
      row(
        "The wallet reports an error for a document that it returned or that was not requested", "\(iso), 8.3.2.1.2.2",
        Remedy.wallet)
    case .documentsMissing:
      row("The DeviceResponse holds no document", "\(iso), 8.3.2.1.2.2", Remedy.wallet)
    case .documentUnexpected:
      row("The DeviceResponse holds more documents than were asked for", "\(iso), 8.3.2.1.2.2", Remedy.wallet)
    case .docTypeNotRequested:
      row("A document of a type that was not requested", "\(iso), 8.3.2.1.2.2", Remedy.wallet)
    case .zeroKnowledgeUnsupported:
      row(
        "The answer holds zero-knowledge proofs, which were not asked for and are not verified here",
        "ISO/IEC 18013-5, second edition, DeviceResponse: zkDocuments",
        "If proofs were asked for, name the folder of their circuits. If not, report it to the wallet's maker.")
    case .encryptedDocumentsUnsupported:
      row(
        "The answer holds encrypted documents, which were not asked for and are not opened here",
        "ISO/IEC 18013-5, second edition, DeviceResponse: encryptedDocuments",
        "Ask the wallet for documents; report it to the wallet's maker if it encrypts them without having been asked to."
      )
    case .responseDeviation:
      row(
        "A member that must be absent is null, undefined, empty, or a copy of the signed payload; it is ignored",
        "\(iso), 8.3.2.1.2.2, 9.1.2.4 and 9.1.3.6",
        "Nothing in the answer depends on it; report it to the wallet's maker.",
        warns: true)
    // Zero-knowledge proofs
    case .zkDocumentMalformed:
      row(
        "A ZkDocument lacks a member, has one of another type, or its documentData is not inside tag 24",
        "\(edition2), ZkDocument", Remedy.wallet)
    case .zkTimestampMalformed:
      row(
        "The proof's time is not a date and time of 20 characters in UTC with tag 0", "\(edition2), ZkDocumentData",
        Remedy.wallet)
    case .zkPlainNotAccepted:
      row(
        "A plain document came where a proof was required, or beside a proof", "\(edition2), ZkRequest: zkRequired",
        "Ask with `\"zk\": \"allowed\"` if plain documents are welcome; else the person needs a wallet that proves.")
    case .zkSystemUnknown:
      row(
        "The proof names a circuit that this verifier does not know, or one that is unsound",
        "\(edition2), ZkSystemSpec; longfellow-libzk-v1, versions 6 and 7", Remedy.wallet)
    case .zkSystemNotOffered:
      row("The proof names a circuit that this request did not offer", "\(edition2), ZkRequest", Remedy.forged)
    case .zkNamespaceMismatch:
      row(
        "The proof's elements are in several namespaces, or in another than the requested one",
        "\(edition2), ZkDocumentData", Remedy.forged)
    case .zkElementsMismatch:
      row("The proof shows other elements than those that were requested", "\(edition2), ZkDocumentData", Remedy.wallet)
    case .zkElementCount:
      row(
        "The proof shows more or fewer elements than its circuit proves", "longfellow-libzk-v1: num_attributes",
        Remedy.forged)
    case .zkElementNotProvable:
      row(
        "An element's value or identifier is of a kind or size that no circuit proves",
        "longfellow-libzk-v1, public inputs", Remedy.wallet)
    case .zkDeviceElements:
      row(
        "Elements of the device stand beside the proof, which does not prove them", "\(edition2), ZkDocumentData",
        Remedy.forged)
    case .zkTimestampStale:
      row(
        "The proof shows that the document was valid at a time that is too long ago",
        "\(edition2), ZkDocumentData: timestamp",
        "Ask again: a proof is good for five minutes. If that fails too, compare the clocks of both sides.")
    case .zkTimestampInFuture:
      row(
        "The proof shows that the document is valid at a time that is not yet there",
        "\(edition2), ZkDocumentData: timestamp",
        "Compare the clocks of device and server; for wallets that stamp the end of the day, allow `zk_end_of_day`.")
    case .zkIssuerNotAllowed:
      row(
        "The issuer is trusted, but not with proofs", "longfellow-libzk-v1: the document's own type is not shown",
        "Name the anchor's document types, or set `zk` beside the anchor, if it issues documents of this type alone.")
    case .zkIssuerKeyUnsupported:
      row("The document signer's key is not on P-256", "longfellow-libzk-v1, signature circuit", Remedy.issuer)
    case .zkStatusNotProvable:
      row(
        "The policy requires a good status of the document, which a proof hides",
        "longfellow-libzk-v1: the status is not shown",
        "Ask for a plain document, or allow an undetermined status for this relying party.")
    case .zkCircuitUnavailable:
      row(
        "The proof's circuit is not at hand, or its file is damaged", "longfellow-libzk-v1, circuits",
        "Import the circuits with `mdoc circuits import`, and check them with `mdoc circuits check`.")
    case .zkProofMalformed:
      row(
        "The bytes are not one proof of this circuit and statement", "longfellow-libzk-v1, proof encoding",
        Remedy.forged)
    case .zkProofInvalid:
      row(
        "The proof does not prove what the answer states in this session",
        "longfellow-libzk-v1; draft-google-cfrg-libzk", Remedy.forged)
    case .zkNotProvable:
      row(
        "The request asks for a proof that cannot be made", "longfellow-libzk-v1: what a circuit proves",
        "Ask for one to four elements of one namespace without parts, by a protocol that carries proofs.")
    case .zkCircuitsMissing:
      row(
        "The request asks for a proof, and no circuit for it is at hand", "longfellow-libzk-v1, circuits",
        "Import the circuits with `mdoc circuits import` and name their folder in the configuration (`circuits`).")
    // Issuer authentication
    case .issuerAuthMissing:
      row("The document has no issuer authentication", "\(iso), 9.1.2.4", Remedy.forged)
    case .issuerAuthMalformed:
      row("IssuerAuth is not an untagged COSE_Sign1", "\(iso), 9.1.2.4", Remedy.item)
    case .coseHeaderDuplicate:
      row("A COSE header parameter stands in both header maps", "RFC 9052, 3", Remedy.wallet)
    case .coseCritUnsupported:
      row("A COSE header parameter is marked critical and not understood", "RFC 9052, 3.1", Remedy.wallet)
    case .issuerCertificateMissing:
      row(
        "IssuerAuth carries no document signer certificate", "\(iso), 9.1.2.4",
        "The issuer must put its signer's certificate under x5chain, and the wallet pass issuerAuth on as it is; the "
          + "detail says what stands there instead. Report it to the wallet's maker.")
    case .issuerCertificateThumbprintMismatch:
      row("The certificate thumbprint is not that of the document signer", "RFC 9360, 2", Remedy.forged)
    case .issuerAlgorithmUnsupported:
      row(
        "The issuer's signature algorithm is absent from the protected header or not one of the standard's",
        "\(iso), 9.1.2.4", Remedy.issuer)
    case .issuerAlgorithmKeyMismatch:
      row("The issuer's signature algorithm does not go with the certificate's key", "\(iso), 9.1.2.4", Remedy.issuer)
    case .issuerSignatureInvalid:
      row("The issuer's signature does not verify", "\(iso), 9.3.1", Remedy.forged)
    // Trust
    case .trustStoreEmpty:
      row(
        "There is no trust anchor, or none that is valid now", "\(iso), 9.3.3",
        "Configure at least one issuing authority certificate.")
    case .chainTooLong:
      row("The certificate chain has more certificates, or larger ones, than the limit", "\(iso), 9.3.3", Remedy.forged)
    case .certificateMalformed:
      row(
        "A certificate is not one valid DER certificate, or has a malformed extension", "RFC 5280, 4.1", Remedy.issuer)
    case .testCertificate:
      row(
        "A mock or published test certificate, which is never trusted in live mode",
        "Test anchors are never trusted in live mode", "Use real documents in live mode, and `--test-mode` for tests.")
    case .issuerUnknown:
      row("The certificate chain leads to no configured trust anchor", "\(iso), 9.3.3", Remedy.anchors)
    case .nameChaining:
      row(
        "The certificate names another issuer than the anchor whose key identifier it carries",
        "RFC 5280, 6.1.3 (a)(4)", Remedy.issuer)
    case .certificateSignatureInvalid:
      row("A certificate's signature does not verify with its issuer's key", "RFC 5280, 6.1.3 (a)(1)", Remedy.forged)
    case .certificateAlgorithmUnsupported:
      row("A certificate's key or signature algorithm is not one of the standard's", "\(iso), B.1", Remedy.issuer)
    case .anchorNotCA:
      row("The trust anchor is not a certification authority", "\(iso), B.1.2", Remedy.anchors)
    case .anchorExpired:
      row("The trust anchor is not valid at this time", "RFC 5280, 6.1.3 (a)(2)", Remedy.anchors)
    case .issuerNotTrustedForDocType:
      row("The anchor is trusted, but not for this document type", "\(iso), 9.3.3", Remedy.anchors)
    case .pathLengthExceeded:
      row(
        "More certificates between anchor and signer than the anchor allows", "RFC 5280, 6.1.4 (l)–(m)",
        Remedy.anchors)
    case .certificateExpired:
      row(
        "A certificate of the chain is expired or not yet valid", "RFC 5280, 6.1.3 (a)(2)",
        "Check this machine's clock and the time that was given; else the issuer needs a certificate that is valid.")
    case .certificateIsCA:
      row(
        "The document signer is a certification authority, or an issuing certificate is none", "RFC 5280, 6.1.4 (k)",
        Remedy.issuer)
    case .certificateKeyUsage:
      row("A certificate's key usage does not allow what it is used for", "RFC 5280, 6.1.4 (n)", Remedy.issuer)
    case .certificateExtendedKeyUsage:
      row(
        "A certificate's extended key usage does not allow what it is used for", "\(iso), B.1.4",
        "The issuer needs a signer that is certified for the document type. Where the issuer's own profile has another "
          + "usage, name it in `ekus`: in the anchor's settings file, or beside the list that names the anchor.")
    case .certificateCriticalExtension:
      row("A certificate has a critical extension that is not understood", "RFC 5280, 6.1.4 (o)", Remedy.issuer)
    case .certificateConstrained:
      row(
        "A certificate between anchor and signer has name or policy constraints, which are not processed",
        "RFC 5280, 6.1.4 (a)–(b), (g)–(j); \(iso), B.1", Remedy.issuer)
    case .certificateJurisdictionMismatch:
      row("The document signer's country or state differs from its issuing authority's", "\(iso), 9.3.3", Remedy.issuer)
    case .profileCriticality:
      row(
        "An extension is not critical though the profile wants it so, or the reverse", "\(iso), B.1.4", Remedy.issuer,
        warns: true)
    case .profileLifetime:
      row("A certificate is valid for longer than the profile allows", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileCountryMissing:
      row(
        "A certificate's subject names no country, so that it cannot be compared", "\(iso), B.1", Remedy.issuer,
        warns: true)
    case .profileKeyIdentifiers:
      row("A certificate lacks its subject or authority key identifier", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileSerialNumber:
      row(
        "A certificate's serial number is negative, zero, too short or too long", "\(iso), B.1; RFC 5280, 4.1.2.2",
        Remedy.issuer, warns: true)
    case .profileIssuerAltName:
      row(
        "A certificate lacks the issuer alternative name, or has one without an e-mail address or URI", "\(iso), B.1",
        Remedy.issuer, warns: true)
    case .profileRevocationSource:
      row(
        "A certificate has no usable CRL distribution point, or one of another form than a URI", "\(iso), B.1.4",
        Remedy.issuer, warns: true)
    case .profileForbiddenExtension:
      row("A certificate has an extension that the profile forbids", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileVersion:
      row("A certificate is not of version 3", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileName:
      row(
        "A certificate's name lacks an attribute, has one twice, or has one in another form than the profile's",
        "\(iso), B.1", Remedy.issuer, warns: true)
    case .profilePublicKey:
      row(
        "A certificate's key is compressed, or on a curve that the profile does not have for its role", "\(iso), B.1",
        Remedy.issuer, warns: true)
    case .profileSignatureAlgorithm:
      row(
        "A certificate is signed with another algorithm than the one that goes with its issuer's key", "\(iso), B.1",
        Remedy.issuer, warns: true)
    case .profileKeyIdentifierValue:
      row(
        "A certificate's subject key identifier is not the SHA-1 of its key", "\(iso), B.1; RFC 5280, 4.2.1.2 (1)",
        Remedy.issuer, warns: true)
    case .profilePathLength:
      row("An authority's path length is not zero", "\(iso), B.1.2", Remedy.issuer, warns: true)
    case .profileKeyUsage:
      row("A certificate has other key usages than exactly the profile's", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileExtendedKeyUsage:
      row("A certificate has extended key usages beside those of its role", "\(iso), B.1", Remedy.issuer, warns: true)
    case .profileSubjectAltName:
      row(
        "A link certificate changes the authority's name without the new name as subject alternative name",
        "\(iso), B.1.3", Remedy.issuer, warns: true)
    case .profileAnchorUnscoped:
      row(
        "The anchor's document types are not configured; it was used for any", "RFC 5280, 6.1.1 (d)",
        "Write a settings file beside the anchor that names its document types.", warns: true)
    case .profileRootInChain:
      row("The chain carries the trust anchor itself", "\(iso), 9.1.2.4", Remedy.issuer, warns: true)
    // Mobile security object
    case .msoMissing:
      row("IssuerAuth carries no mobile security object", "\(iso), 9.1.2.4", Remedy.forged)
    case .msoMalformed:
      row("The mobile security object lacks a member or has one of another type", "\(iso), 9.1.2.4", Remedy.issuer)
    case .msoVersionUnsupported:
      row("The mobile security object has another version than 1.0", "\(iso), 9.1.2.4", Remedy.issuer)
    case .digestAlgorithmUnsupported:
      row("The digest algorithm is not SHA-256, SHA-384 or SHA-512", "\(iso), 9.1.2.5", Remedy.issuer)
    case .msoDocTypeMismatch:
      row("The mobile security object is for another document type than the document", "\(iso), 9.3.1", Remedy.forged)
    // Issuer-signed items
    case .itemMalformed:
      row("An issuer-signed item lacks a member or has one of another type", "\(iso), 8.3.2.1.2.2", Remedy.item)
    case .itemNotTag24:
      row("An issuer-signed item is not a byte string with tag 24", "\(iso), 8.3.2.1.2.2", Remedy.item)
    case .elementDuplicate:
      row("The same element of the same namespace is returned twice", "\(iso), 8.3.2.1.2.2", Remedy.forged)
    case .digestIDDuplicate:
      row("Two items of a namespace share one digest identifier", "\(iso), 9.1.2.5", Remedy.item)
    case .digestMissing:
      row("No digest was signed for a returned element", "\(iso), 9.3.1", Remedy.forged)
    case .digestMismatch:
      row("A returned element does not match its signed digest", "\(iso), 9.3.1", Remedy.forged)
    case .digestIDOutOfRange:
      row(
        "An item's digest identifier is 2^31 or more, and its digest is looked up all the same", "\(iso), 9.1.2.4",
        Remedy.issuer, warns: true)
    case .itemRandomTooShort:
      row("An item's random value has fewer than 16 bytes", "\(iso), 9.1.2.5", Remedy.issuer, warns: true)
    // Validity
    case .validityInconsistent:
      row("The validity dates contradict each other", "\(iso), 9.1.2.4", Remedy.issuer)
    case .signedInFuture:
      row("The document claims to be signed in the future", "\(iso), 9.3.1", Remedy.issuer)
    case .signedOutsideCertificate:
      row("The document was signed outside its signer's validity", "\(iso), 9.3.1", Remedy.issuer)
    case .notYetValid:
      row("The document is not yet valid", "\(iso), 9.3.1", "Ask again when it is valid; check the server's clock.")
    case .expired:
      row("The document's signature has expired", "\(iso), 9.3.1", "The person must let the wallet renew the document.")
    case .validityExceedsCertificate:
      row(
        "The document claims to be valid for longer than its signer's certificate", "\(iso), 9.1.2.4", Remedy.issuer,
        warns: true)
    case .issuerJurisdictionMismatch:
      row("The document's issuing country or jurisdiction differs from its signer's", "\(iso), 9.3.1", Remedy.issuer)
    // Device authentication
    case .deviceKeyInvalid:
      row("The device key is missing, not a public key, or not on its curve", "\(iso), 9.1.2.4", Remedy.issuer)
    case .deviceKeySameAsIssuer:
      row("The device key is the document signer's key", "\(iso), 9.1.3", Remedy.issuer, warns: true)
    case .deviceElementUnauthorized:
      row("A device-signed element is not among those that the issuer authorised", "\(iso), 9.1.2.4", Remedy.forged)
    case .deviceAuthMissing:
      row("The document carries neither a device signature nor a device MAC", "\(iso), 9.1.3", Remedy.forged)
    case .deviceAuthAmbiguous:
      row("The document carries a device signature and a device MAC", "\(iso), 9.1.3", Remedy.wallet)
    case .deviceAuthMalformed:
      row("The device signature or MAC is not a COSE structure with a detached payload", "\(iso), 9.1.3", Remedy.wallet)
    case .deviceMacNotAllowed:
      row(
        "A device MAC where this protocol gives no reader key for it", "\(iso), 9.1.3.5",
        "In person, give the reader's ephemeral private key; elsewhere the wallet is at fault.")
    case .deviceAlgorithmUnsupported:
      row(
        "The device's algorithm is absent from the protected header or not one of the standard's", "\(iso), 9.1.3",
        Remedy.wallet)
    case .deviceAlgorithmKeyMismatch:
      row(
        "The device's algorithm does not go with the device key, or the key's `alg` or `key_ops` is for another use",
        "\(iso), 9.1.3; RFC 9052, 7.1", Remedy.wallet)
    case .deviceSignatureInvalid:
      row(
        "The device's signature does not verify over this session's transcript", "\(iso), 9.1.3.6",
        "Check that the transcript's inputs are those of the request; else treat it as a replay or forgery.")
    case .deviceMacInvalid:
      row(
        "The device's MAC does not verify over this session's transcript", "\(iso), 9.1.3.5",
        "Check that the transcript's inputs are those of the request; else treat it as a replay or forgery.")
    // Revocation
    case .signerRevoked:
      row(
        "The document signer's certificate is on its authority's revocation list", "\(iso), 9.3.3 and B.3.2",
        Remedy.revoked)
    case .authorityRevoked:
      row(
        "An authority between the document signer and the anchor, or the anchor itself, is on a revocation list",
        "\(iso), 9.3.3 and B.3.2", Remedy.revoked)
    case .crlInvalid:
      row(
        "The certificate revocation list is not one of the issuer's, not signed, not full, or not current",
        "\(iso), B.3.2; RFC 5280, 6.3.3", Remedy.undetermined)
    case .documentRevoked:
      row("The issuer has revoked the document", second, Remedy.revoked)
    case .documentSuspended:
      row("The issuer has suspended the document", second, Remedy.revoked)
    case .statusUnknown:
      row(
        "The status list gives the document a status that has no common meaning", "Token Status List, 7.1",
        Remedy.undetermined)
    case .statusListInvalid:
      row(
        "The status list or identifier list is malformed, expired, of another subject, or not validly signed",
        "Token Status List, 8.3; \(second)", Remedy.undetermined)
    case .statusIndexOutOfRange:
      row("The document's index lies outside its status list", "Token Status List, 8.3", Remedy.undetermined)
    case .revocationMechanismUnsupported:
      row("The document declares a status by a mechanism that is not known here", second, Remedy.undetermined)
    case .revocationSourceNotAllowed:
      row(
        "The list's address is not https, names a port or network that is not public, or redirects to one",
        "RFC 9110, 17.1", Remedy.undetermined)
    case .revocationListTooLarge:
      row("The list is larger than the limit, packed or unpacked", "RFC 9110, 17.5", Remedy.undetermined)
    case .revocationUnavailable:
      row(
        "The list could not be fetched, and none that is still current is at hand", "\(iso), 9.3.3",
        Remedy.undetermined)
    // Acceptance
    case .elementTypeInvalid:
      row(
        "An element has another type than its standard gives it; one that was not asked for only warns",
        "\(iso), 7.2.1", Remedy.issuer)
    case .elementMissing:
      row(
        "A requested element was not returned", "\(iso), 8.3.2.1.2.2",
        "The person declined it or the document lacks it; make it optional if you can do without.")
    case .elementUnexpected:
      row(
        "An element that was not requested was returned, and the policy is strict", "\(iso), 8.3.2.1.2.2",
        Remedy.wallet)
    case .documentMissing:
      row(
        "A required document was not returned, or another was returned twice", "\(iso), 8.3.2.1.2.2",
        "The person declined it, has no such document, or presented one twice: ask for `document_number`.")
    case .ageContradictory:
      row("The age attestations contradict each other", "\(iso), 7.2.5", Remedy.issuer)
    case .ageInconsistent:
      row("Birth date, age and age attestations do not agree", "\(iso), 7.2.5", Remedy.issuer, warns: true)
    case .ageBelowMinimum:
      row(
        "The person is younger than the minimum age", "\(iso), 7.2.5",
        "Refuse the person; the document itself is genuine.")
    case .documentExpired:
      row(
        "The document's own expiry date has passed", "\(iso), 7.2.1",
        "Ask for a current document; a request with `accept_expired` takes an expired one, with a warning.")
    case .nothingDisclosed:
      row(
        "The answer is genuine and discloses nothing that was asked for", "\(iso), 8.3.2.1.2.2",
        "Take it for no more than proof that such a document is there; require the elements that you need.",
        warns: true)
    // Reader authentication
    case .readerRequestMalformed:
      row(
        "The bytes are neither a DeviceRequest nor a signed request object", "\(iso), 8.3.2.1.2.1; RFC 9101, 4",
        "Hand in the request as the wallet gets it, whole.")
    case .readerAuthMissing:
      row("The request, or one of its documents, is not signed by a reader", "\(iso), 9.1.4", Remedy.reader)
    case .readerAuthMalformed:
      row(
        "A reader's signature is not an untagged COSE_Sign1 with a detached payload, or its header is not the standard's",
        "\(iso), 9.1.4; RFC 9101, 4 and 10.8", Remedy.reader)
    case .readerCertificateMissing:
      row(
        "A reader's signature carries no certificate, or one that is not valid DER", "\(iso), 9.1.4; RFC 7515, 4.1.6",
        Remedy.reader)
    case .readerUntrusted:
      row(
        "The reader's certificates do not lead to one of the given roots, or not at this time", "\(iso), 9.1.4.4",
        "Check that the root is that of the reader's authority, and the certificates' dates; else no wallet will trust it."
      )
    case .readerCertificateProfile:
      row(
        "The reader's certificate is not made for reader authentication", "ISO/IEC 18013-5, B.1.7",
        "Have the reader's authority issue a certificate of this profile.")
    case .readerAlgorithmUnsupported:
      row(
        "A reader's signature algorithm is absent, not one of the standard's, or not one of the key's",
        "\(iso), 9.1.4.4; RFC 7515, 4.1.1", Remedy.reader)
    case .readerSignatureInvalid:
      row(
        "A reader's signature does not verify over this request and session", "\(iso), 9.1.4.5; RFC 7515, 5.2",
        "Check that the transcript, or origin and encryptionInfo, are those of the request; else it was changed.")
    case .readerClientMismatch:
      row(
        "The client identifier is not the one that goes with the reader's certificate", "\(openID), 5.9.3",
        "Use `x509_hash:` with the certificate's SHA-256, or `x509_san_dns:` with a dNSName that it has.")
    case .readerOriginMismatch:
      row(
        "The request does not expect answers at the origin that it is for", "\(openID), A.2",
        "Name the page's origin in `expected_origins`, exactly as browsers write it.")
    case .readerAudience:
      row(
        "The request object is for another audience than a wallet", "\(openID), 5.8",
        "Set `aud` to `https://self-issued.me/v2`, or to the issuer that the wallet's metadata names.", warns: true)
    // Lists of trust anchors
    case .listMalformed:
      row("The list does not have the prescribed form", lists, Remedy.list)
    case .listTooLarge:
      row("The list is larger than the limit", lists, Remedy.list)
    case .listSignerUntrusted:
      row(
        "The list's signer does not lead to one of the anchors configured for this list", lists,
        "Where a certificate has expired, get today's list; else check the configured signer anchors against those that "
          + "the list's provider publishes.")
    case .listSignerProfile:
      row("The list's signer is not certified for signing such lists", lists, Remedy.list)
    case .listAlgorithmUnsupported:
      row("The list's signature algorithm is not allowed, or not one of the key's", lists, Remedy.list)
    case .listSignatureInvalid:
      row("The list's signature does not verify", lists, Remedy.list)
    case .listVersionUnsupported:
      row("The list is of another version", lists, Remedy.list)
    case .listCriticalExtension:
      row("The list has a critical extension that is not known here", lists, Remedy.list)
    case .listIssuedInFuture:
      row("The list is dated in the future", lists, "Check this machine's clock.")
    case .listExpired:
      row("The list's own time for its next update is past", lists, "Fetch the list again; ask its provider.")
    case .listRollback:
      row(
        "The list is older than one that was accepted before", lists,
        "Find out who serves an old list: it may be an attack.")
    case .listEntryMalformed:
      row("An entry of the list can't be read or used, and was skipped", lists, Remedy.list, warns: true)
    case .listEntryMismatch:
      row(
        "An entry of the list differs from the certificate that it describes, and was skipped", lists, Remedy.list,
        warns: true)
    case .listEntryNotGranted:
      row(
        "An entry of the list is withdrawn, suspended or not yet in force, and was skipped", lists,
        "Nothing, if it was meant to be; else ask the list's provider.", warns: true)
    case .listDeviation:
      row("The list deviates from its standard in a way that is tolerated", lists, Remedy.list, warns: true)
    case .listSourceNotAllowed:
      row(
        "The list's address is not https, names a network that is not public, or redirects to one", "RFC 9110, 17.1",
        "Correct the address in the configuration.")
    case .listUnavailable:
      row("The list could not be fetched or read", lists, "Check the address, the file, and the network.")
    // Sessions
    case .sessionNotFound:
      row("No such session", "HTTP API, Sessions", "Check the id and the API key.")
    case .sessionProtocolMismatch:
      row(
        "The session did not offer this protocol", "HTTP API, Sessions",
        "Post the answer with the protocol that it was requested by; nothing was consumed.")
    case .sessionAlreadyUsed:
      row(
        "The session's challenge has been answered already", "\(iso), 9.1.5.1",
        "Create a new session for a new attempt.")
    case .sessionExpired:
      row("The session's time is over", "HTTP API, Sessions", "Create a new session.")
    case .sessionCanceled:
      row("The session was canceled", "HTTP API, Sessions", "Create a new session.")
    case .sessionRedacted:
      row("The session's data were erased", "HTTP API, Sessions", "Create a new session.")
    case .sessionWrongState:
      row("The session's state does not allow this", "HTTP API, Sessions", "Read the session's status first.")
    case .sessionInterrupted:
      row("The server stopped while it verified the answer", "HTTP API, Sessions", "Create a new session.")
    case .responseCodeMismatch:
      row(
        "The response code is not that of the browser that answered", "\(openID), 8.2 and 13.3",
        "Pass on the `response_code` that this very browser came back with; else treat it as an attack.")
    // What a wallet says instead of an answer
    case .walletAccessDenied:
      row(
        "The person declined, or the wallet has nothing that fits", "\(openID), 8.5",
        "Offer another way, or ask again with a new session.")
    case .walletInvalidRequest:
      row("The wallet found the request malformed", "\(openID), 8.5", Remedy.walletRequest)
    case .walletInvalidClient:
      row(
        "The wallet does not know or not trust this client", "\(openID), 8.5",
        "Check the reader's certificate and whether its authority is registered with the wallet.")
    case .walletFormatsNotSupported:
      row("The wallet has no mdoc, or none with these algorithms", "\(openID), 8.5", Remedy.walletRequest)
    case .walletInvalidRequestURIMethod:
      row("The wallet does not know the method for `request_uri`", "\(openID), 8.5", Remedy.walletRequest)
    case .walletInvalidTransactionData:
      row("The wallet does not take the transaction data", "\(openID), 8.5", Remedy.walletRequest)
    case .walletUnavailable:
      row("The wallet could not answer now", "\(openID), 8.5", "Ask again with a new session.")
    case .walletOtherError:
      row("The wallet answered with an error that the standard does not list", "\(openID), 8.5", Remedy.walletRequest)
    // Exported audit logs
    case .auditMalformed:
      row("A line is no audit entry and no head", audit, Remedy.export)
    case .auditEntryMissing:
      row(
        "Entries are missing at the beginning of a chain or within it", audit,
        "Export from the first entry, or give the head before the first one with --heads; else entries were removed.")
    case .auditHashMismatch:
      row("An entry's hash does not follow from it and the hash before", audit, Remedy.tampered)
    case .auditSequenceRepeated:
      row("A file has two entries of one node at one place", audit, Remedy.tampered)
    case .auditOutOfOrder:
      row("A file's entries of a node are not in their order", audit, Remedy.export)
    case .auditExportsDisagree:
      row("Two exports have different entries of one node at one place", audit, Remedy.tampered)
    case .auditEndMissing:
      row("A chain ends before a head that it had", audit, Remedy.tampered)
    case .auditHeadMissing:
      row("A file has entries of a node and does not say where its chain ends", audit, Remedy.export)
    case .auditHeadMismatch:
      row("A file's head of a node is not that of its last entry", audit, Remedy.tampered)
    case .auditHeadNotOnChain:
      row("A head that was noted earlier is not on the chain", audit, Remedy.tampered)
    case .auditAttemptRepeated:
      row("One attempt has two entries", audit, Remedy.twice)
    case .auditSessionVerifiedTwice:
      row("One session was verified twice", audit, Remedy.twice)
    // Evidence
    case .evidenceMalformed:
      row("The file is no bundle of evidence, or not all of one", evidence, Remedy.bundle)
    case .evidenceTooLarge:
      row("The file is larger than any bundle of evidence", evidence, Remedy.bundle)
    case .evidenceVersionUnsupported:
      row(
        "The bundle has a format that this program does not know", evidence,
        "Verify it with the version of the program that kept it, or a later one.")
    case .evidenceKeyMismatch:
      row(
        "The bundle is sealed with another key than those given", evidence,
        "Give the relying party's evidence key of the time at which the bundle was kept.")
    case .evidenceSealBroken:
      row("The bundle was changed or cut short after it was sealed", evidence, Remedy.bundle)
    case .evidenceReportMismatch:
      row(
        "The answer in the bundle does not come to the report that was given", evidence,
        "Verify it with the version of the program that kept it; if it stays, the bundle proves nothing.")
    case .evidenceNotInAudit:
      row(
        "The audit log has no entry of this bundle", evidence,
        "Export the log of every node anew; if it stays, no server has given this bundle out.")
    // HTTP
    case .apiMalformedRequest:
      row("The request is not well-formed", "RFC 9112", "Send a well-formed request.")
    case .apiInvalidRequest:
      row("A member of the request has a wrong type or value", "HTTP API", "Correct the members named in `errors`.")
    case .apiUnknownMember:
      row("The request has a member that this API does not know", "HTTP API", "Remove the members named in `errors`.")
    case .apiProtocolUnsupported:
      row("This protocol is not offered here", "HTTP API, Sessions", "Use one of the protocols that the server offers.")
    case .apiOriginNotAllowed:
      row(
        "The origin is none of the relying party's", "HTTP API, Sessions",
        "Use one of the configured origins, written exactly as browsers do.")
    case .apiOutsideRegistration:
      row(
        "The relying party's registration certificate does not have what is asked", "ETSI TS 119 475, 5.2.4",
        "Ask only for registered elements, name another `intended_use_id`, or register the rest.")
    case .apiWalletUnsupported:
      row(
        "By its own metadata the wallet does not take this request", "\(openID), 5.10",
        "Compare `errors` with the reader's `client_id` and the relying party's `openid4vp`.")
    case .readerCertificateExpired:
      row(
        "The reader's certificate is expired or not yet valid: wallets would refuse what it signs",
        "ISO/IEC 18013-5, B.1.7", "Renew the certificate of the relying party's reader.")
    case .apiTooManyAgeRequests:
      row("More than two age thresholds for one document", "\(iso), 7.2.5", "Ask for at most two thresholds.")
    case .apiUnauthenticated:
      row(
        "The request carries no valid credential", "RFC 6750",
        "Send `Authorization: Bearer` with a valid API key or client secret.")
    case .apiForbidden:
      row("The credential does not allow this", "RFC 6750", "Use a credential with the scope that the operation needs.")
    case .apiNotFound:
      row("There is nothing at this address", "RFC 9110, 15.5.5", "Check the address.")
    case .apiMethodNotAllowed:
      row("The address does not take this method", "RFC 9110, 15.5.6", "Use a method that the `Allow` header names.")
    case .apiIdempotencyInProgress:
      row(
        "A request with this Idempotency-Key is still running", "HTTP API, Idempotency",
        "Wait and repeat the same request.")
    case .apiIdempotencyKeyReused:
      row(
        "This Idempotency-Key was used with another body", "HTTP API, Idempotency", "Use a new key for a new request.")
    case .apiBodyTooLarge:
      row("The request's body is larger than the limit", "RFC 9110, 15.5.14", "Send a smaller body.")
    case .apiHeadersTooLarge:
      row("The request's headers are larger than the limit", "RFC 6585, 5", "Send fewer or smaller headers.")
    case .apiTargetTooLong:
      row("The request's address is longer than the limit", "RFC 9110, 15.5.15", "Send a shorter URL.")
    case .apiUnsupportedMediaType:
      row("The body is not application/json", "RFC 9110, 15.5.16", "Send `Content-Type: application/json`.")
    case .trustReloadFailed:
      row(
        "The trust anchors could not be loaded anew; those before stay in force", "HTTP API",
        "The server's log says which file or list; mend it and ask again.")
    case .apiRateLimited:
      row(
        "More requests by this API key, for this session or from this address than the server allows", "RFC 6585, 4",
        "Repeat after the seconds that `Retry-After` names.")
    case .apiSessionTooLarge:
      row(
        "The session would take more room in the store than one may", "HTTP API, Sessions",
        "Ask for fewer elements, with shorter names, or offer fewer protocols.")
    case .apiQuotaExceeded:
      row(
        "The relying party has as many open sessions, or as many bytes in the store, as its quota allows",
        "RFC 6585, 4",
        "Repeat after the seconds that `Retry-After` names; redact what is no longer needed, or have `quota` raised.")
    case .configurationReloadFailed:
      row(
        "The configuration could not be put in force; the one before stays", "HTTP API",
        "The server's log says which member is wrong; mend it and ask again.")
    case .apiOverloaded:
      row(
        "The server has more work than it can do in time", "RFC 9110, 15.6.4",
        "Repeat after the seconds that `Retry-After` names.")
    case .apiStoreUnavailable:
      row(
        "The server's store did not answer; nothing was consumed or no result is given", "RFC 9110, 15.6.4",
        "Repeat after the seconds that `Retry-After` names.")
    case .apiInternal:
      row("The server failed", "RFC 9110, 15.6.1", "Report it with the request id.")
    }
  }
}

private let iso = "ISO/IEC 18013-5:2021"
private let openID = "OpenID4VP 1.0"
private let edition2 = "ISO/IEC 18013-5, second edition"
private let second = "ISO/IEC 18013-5, second edition, 12.3.6"
private let lists = "ISO/IEC 18013-5:2021, C.1; ETSI TS 119 602, 6"

private let audit = "Audit log"
private let evidence = "Evidence"

private enum Remedy {
  static let reader = "Correct how the request is signed; no wallet that checks readers takes it as it is."
  static let cbor =
    "Whoever wrote these bytes must correct them: the issuer where the detail names what it signed, else the wallet's "
    + "maker; ask again, and report it if it persists."
  static let item =
    "The issuer makes these items and the wallet passes them on: report it to the issuing authority; where other wallets "
    + "pass the same document on rightly, to the wallet's maker."
  static let export = "Export again, and compare; the file was cut off or changed after it was written."
  static let tampered =
    "Export again; if it stays, somebody changed entries in the store: find out from when with the heads noted earlier."
  static let twice =
    "A store accepted one challenge twice: stop the servers and find out whether it was restored from a copy."
  static let bundle = "Fetch it again from the server, and compare with other copies."
  static let wallet =
    "The wallet's answer is broken; ask again, and report it to the wallet's maker if it persists."
  static let forged =
    "Treat the answer as forged or damaged; ask again with a new session."
  static let walletRequest =
    "Compare the request with what the wallet supports; report it to the wallet's maker if it is right."
  static let anchors =
    "Check which anchors are configured (`mdoc trust list`) and whether this issuer is meant to be trusted."
  static let revoked = "Do not accept the document; the holder must turn to its issuer."
  static let undetermined =
    "Check the list's address from this machine and ask the issuer; the relying party's policy decides meanwhile."
  static let list = "Report it to the list's provider; the last accepted list stays in force while it is current."
  static let issuer =
    "The issuer must correct its certificate or its signing; report it to the issuing authority."
}

private func row(_ summary: String, _ clause: String, _ remedy: String, warns: Bool = false) -> CodeEntry {
  CodeEntry(summary: summary, clause: clause, remedy: remedy, isWarning: warns)
}
